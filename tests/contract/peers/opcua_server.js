// An OPC UA server with one folder a group and one variable a value: `node opcua_server.js PORT PKI`.
// It is told on its input, as JSON in one line, what to make: {uri, groups: [[name, [[value, type]]]]}.
// It ends when its input ends.
"use strict";
const { DataType, OPCUACertificateManager, OPCUAServer, Variant } = require("node-opcua");

async function serve(port, pki, wanted) {
  const certificates = new OPCUACertificateManager({
    automaticallyAcceptUnknownCertificate: true,
    rootFolder: pki,
  });
  const server = new OPCUAServer({
    port,
    hostname: "127.0.0.1",
    resourcePath: "",
    serverCertificateManager: certificates,
    userCertificateManager: certificates,
  });
  await server.initialize();
  const space = server.engine.addressSpace;
  const own = space.registerNamespace(wanted.uri);
  const vision = own.addObject({ browseName: "Vision", organizedBy: space.rootFolder.objects });
  for (const [group, values] of wanted.groups) {
    const folder = own.addObject({ browseName: group, componentOf: vision });
    for (const [name, type] of values) {
      own.addVariable({
        browseName: name,
        componentOf: folder,
        nodeId: `s=Vision.${group}.${name}`,
        dataType: type,
        value: new Variant({ dataType: DataType[type], value: 0 }),
      });
    }
  }
  await server.start();
  console.log("listening");
}

let text = "";
let isServing = false;
process.stdin.on("data", (data) => {
  text += data;
  if (!isServing && text.includes("\n")) {
    isServing = true;
    serve(Number(process.argv[2]), process.argv[3], JSON.parse(text)).catch((error) => {
      console.error(error.message);
      process.exit(1);
    });
  }
});
process.stdin.on("end", () => process.exit(0));
