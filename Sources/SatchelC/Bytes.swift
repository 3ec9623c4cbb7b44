import CSatchel
import Satchel

extension satchel_bytes {
  /// The bytes, lent for the length of the call.
  func raw(_ name: StaticString) throws -> UnsafeRawBufferPointer {
    if size == 0 { return UnsafeRawBufferPointer(start: nil, count: 0) }
    guard let data else { throw SatchelError(.invalid, "\(name): data is NULL, size is \(size)") }
    // A size beyond Int.max arrives as a negative number.
    guard size > 0, size <= Int.max / 2 else {
      throw SatchelError(.invalid, "\(name): size \(size) is impossible")
    }
    return UnsafeRawBufferPointer(start: data, count: Int(size))
  }

  /// The bytes as text.
  func text(_ name: StaticString) throws -> String {
    let bytes = try raw(name)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      let valid = bytes.validUTF8Count
      throw SatchelError(.invalid, "\(name): invalid UTF-8 at byte \(valid)")
    }
    return text
  }

  /// The bytes as JSON; nothing means null.
  func json(_ name: StaticString) throws -> JSONValue {
    let bytes = try raw(name)
    return bytes.isEmpty ? .null : try naming("\(name)") { try JSONValue(parsing: bytes) }
  }

  /// The bytes as a location.
  func location(_ name: StaticString = "location") throws -> Location {
    let bytes = try raw(name)
    return try naming("\(name)") { try Location(json: JSONValue(parsing: bytes)) }
  }
}

extension UnsafeRawBufferPointer {
  /// Bytes before the first that is not UTF-8.
  fileprivate var validUTF8Count: Int {
    var decoder = UTF8()
    var iterator = makeIterator()
    var count = 0
    while case .scalarValue(let scalar) = decoder.decode(&iterator) { count += UTF8.width(scalar) }
    return count
  }
}

/// Hands bytes over to the host.
func give(_ bytes: UnsafeRawBufferPointer, to out: UnsafeMutablePointer<satchel_buffer>) throws {
  guard let copy = malloc(bytes.count + 1) else {
    throw SatchelError(.noMemory, "no memory for \(bytes.count) bytes")
  }
  if let start = bytes.baseAddress { memcpy(copy, start, bytes.count) }
  let text = copy.assumingMemoryBound(to: CChar.self)
  text[bytes.count] = 0
  out.pointee = satchel_buffer(data: text, size: bytes.count)
}

func give(_ bytes: [UInt8], to out: UnsafeMutablePointer<satchel_buffer>) throws {
  try bytes.withUnsafeBytes { try give($0, to: out) }
}

func give(_ json: JSONValue, to out: UnsafeMutablePointer<satchel_buffer>) throws {
  try give(json.serialized(), to: out)
}

/// Hands text over; none stays none.
func give(_ text: String?, to out: UnsafeMutablePointer<satchel_buffer>) throws {
  guard var text else { return }
  try text.withUTF8 { try give(UnsafeRawBufferPointer($0), to: out) }
}
