import SatchelJSON

/// Three JSON texts, one a line: what there is, what is new, and the edit.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
  guard lines.count == 3,
    let existing = try? JSONValue(parsing: UnsafeRawBufferPointer(rebasing: lines[0])),
    let new = try? JSONValue(parsing: UnsafeRawBufferPointer(rebasing: lines[1])),
    let config = try? JSONValue(parsing: UnsafeRawBufferPointer(rebasing: lines[2])),
    let edited = try? JSONEdit(config: config).apply(to: existing, new: new)
  else { return 0 }
  guard let text = try? edited.serialized(), (try? JSONValue(parsing: text)) == edited else {
    fatalError("an edit gave what cannot be written and read again")
  }
  return 0
}
