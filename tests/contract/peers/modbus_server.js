// A Modbus TCP server with holding registers and nothing else: `node modbus_server.js PORT`.
// It ends when its input ends.
"use strict";
const { ServerTCP } = require("modbus-serial");

const registers = new Uint16Array(65536);
const vector = {
  getHoldingRegister: (address) => registers[address],
  getMultipleHoldingRegisters: (address, count) => {
    if (address >= 1000) throw { modbusErrorCode: 2 };
    return Array.from(registers.subarray(address, address + count));
  },
  setRegister: (address, value) => {
    registers[address] = value;
  },
  setRegisterArray: (address, values) => registers.set(values, address),
};
const server = new ServerTCP(vector, { host: "127.0.0.1", port: Number(process.argv[2]), unitID: 1 });
server.on("initialized", () => console.log("listening"));
server.on("error", (error) => console.error(error.message));
server.on("socketError", () => {});
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
