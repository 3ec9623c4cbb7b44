import SatchelJSON

/// Any bytes: the scanner, the tape and jansson must agree, and nothing may trap.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  let tape = try? JSONTape(bytes)
  let value = try? JSONValue(parsing: bytes)
  switch (tape, value) {
  case (nil, nil): break
  case (let tape?, let value?): walk(tape, value)
  case (nil, .some): fatalError("only the scanner refuses")
  case (.some, nil): fatalError("only JSONValue refuses")
  }
  return 0
}

private func walk(_ tape: JSONTape, _ value: JSONValue) {
  guard let text = try? value.serialized(), (try? JSONValue(parsing: text)) == value else {
    fatalError("written and read again it is another value")
  }
  for index in tape.tokens.indices {
    _ = tape.text(index)
    _ = tape.position(index)
    guard tape[index].kind == .object else { continue }
    for child in tape.children(of: index) {
      var rest: [UInt8] = []
      tape.copy(index, without: child, to: &rest)
      guard let object = try? JSONValue(parsing: rest), object[tape.text(child - 1)] == nil else {
        fatalError("less one member it is no object without that member")
      }
    }
  }
}
