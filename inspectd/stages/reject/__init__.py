"""Where does the part leave? The output in front of the ejector, when inspectd drives it itself."""
