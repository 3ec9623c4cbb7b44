import CSatchel
import Satchel
import SatchelCore
import SatchelStorage

extension satchel_bytes {
  /// Returns the bytes, which are valid for the duration of the call.
  func raw(_ name: StaticString) throws -> UnsafeRawBufferPointer {
    if size == 0 { return UnsafeRawBufferPointer(start: nil, count: 0) }
    guard let data else { throw SatchelError(.invalid, "\(name): data is NULL, size is \(size)") }
    // A `size_t` over Int.max is imported as a negative number.
    guard size > 0, size <= Int.max / 2 else {
      throw SatchelError(.invalid, "\(name): invalid size \(size)")
    }
    return UnsafeRawBufferPointer(start: data, count: Int(size))
  }

  /// Returns the bytes as a string.
  ///
  /// - Throws: `SatchelError` `.invalid` for invalid UTF-8, naming the offset
  func text(_ name: StaticString) throws -> String {
    let bytes = try raw(name)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      let valid = bytes.validUTF8Count
      throw SatchelError(.invalid, "\(name): invalid UTF-8 at byte \(valid)")
    }
    return text
  }

  /// Returns the bytes of an optional argument as a string; nil when they are empty.
  func textIfAny(_ name: StaticString) throws -> String? { size == 0 ? nil : try text(name) }

  /// Returns the bytes parsed as JSON; empty bytes are invalid.
  func json(_ name: StaticString) throws -> JSONValue {
    let bytes = try raw(name)
    return try naming("\(name)") { try JSONValue(parsing: bytes) }
  }

  /// Returns the bytes of an optional argument parsed as JSON; null when they are empty.
  func jsonIfAny(_ name: StaticString) throws -> JSONValue { size == 0 ? .null : try json(name) }

  /// Returns the bytes parsed as a JSON array of strings.
  func textArray(_ name: StaticString) throws -> [String] {
    guard let elements = try json(name).arrayValue else {
      throw SatchelError(.invalid, "\(name): not an array of strings")
    }
    return try elements.enumerated().map { index, element in
      guard let text = element.stringValue else {
        throw SatchelError(.invalid, "\(name): /\(index) is not a string")
      }
      return text
    }
  }

  /// Returns the bytes of an optional argument parsed as a location; nil when they are empty.
  func locationIfAny() throws -> Location? { size == 0 ? nil : try location() }

  /// Returns the bytes parsed as a location.
  func location(_ name: StaticString = "location") throws -> Location {
    let bytes = try raw(name)
    return try naming("\(name)") { try Location(json: JSONValue(parsing: bytes)) }
  }
}

extension UnsafeRawBufferPointer {
  /// The number of bytes before the first invalid one.
  fileprivate var validUTF8Count: Int {
    var decoder = UTF8()
    var iterator = makeIterator()
    var count = 0
    while case .scalarValue(let scalar) = decoder.decode(&iterator) { count += UTF8.width(scalar) }
    return count
  }
}

/// Returns a path that the host passes as a C string.
func text(_ path: UnsafePointer<CChar>?, _ name: StaticString) throws -> String {
  guard let path else { throw SatchelError(.invalid, "\(name) is NULL") }
  guard let text = String(validatingCString: path) else {
    throw SatchelError(.invalid, "\(name): invalid UTF-8")
  }
  return text
}

/// Copies bytes to a buffer that the host owns.
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

/// Gives a page as a JSON object: `name`, an array, and `next`, the cursor of the next page; null where the page is not
/// full.
func give<Element: JSONConvertible>(
  page: [Element], named name: String, limit: Int32, to out: UnsafeMutablePointer<satchel_buffer>,
  cursor: (Element) -> JSONValue
) throws {
  let next = page.count < limit ? nil : page.last.map(cursor)
  try give([name: .array(page.map { try $0.json }), "next": next ?? .null], to: out)
}

/// Copies a string to a buffer that the host owns; nil leaves the buffer empty.
func give(_ text: String?, to out: UnsafeMutablePointer<satchel_buffer>) throws {
  guard var text else { return }
  try text.withUTF8 { try give(UnsafeRawBufferPointer($0), to: out) }
}

/// A growing buffer in `malloc` memory, which the host takes over without a copy.
struct HostBuffer: ~Copyable {
  private var start: UnsafeMutableRawPointer?
  private var count = 0
  private var capacity = 0

  deinit { free(start) }

  /// Allocates capacity in advance. A failure is reported by the next `append`.
  mutating func reserve(_ size: Int) { _ = grow(to: size) }

  /// Appends up to `size` bytes that `read` writes.
  ///
  /// - Parameter read: returns how many it has written
  mutating func append(_ size: Int, _ read: (UnsafeMutableRawBufferPointer) throws -> Int) throws {
    guard size >= 0, grow(to: count + size), let start else {
      throw SatchelError(.noMemory, "no memory for \(size) bytes")
    }
    count += try read(UnsafeMutableRawBufferPointer(start: start + count, count: size))
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
    guard let source = bytes.baseAddress else { return }
    let needed = count + bytes.count
    guard needed <= capacity || grow(to: max(needed, capacity + capacity / 2)), let start else {
      throw SatchelError(.noMemory, "no memory for \(needed) bytes")
    }
    memcpy(start + count, source, bytes.count)
    count = needed
  }

  mutating func append(_ text: StaticString) throws {
    try append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a JSON array.
  ///
  /// - Parameter elements: passes the text of each element to its argument
  mutating func append(array elements: (_ write: (UnsafeRawBufferPointer) throws -> Void) throws -> Void)
    throws
  {
    try append("[")
    let start = count
    try elements { element in
      if count > start { try append(",") }
      try append(element)
    }
    try append("]")
  }

  /// Grows the capacity to `size` bytes and a terminating NUL.
  ///
  /// - Returns: false when there is not enough memory
  private mutating func grow(to size: Int) -> Bool {
    guard size < Int.max, let memory = realloc(start, size + 1) else { return false }
    preferLargePages(memory, size)
    (start, capacity) = (memory, size)
    return true
  }

  /// Transfers the bytes to the host.
  consuming func give(to out: UnsafeMutablePointer<satchel_buffer>) throws {
    guard start != nil || grow(to: 0), let text = start?.assumingMemoryBound(to: CChar.self) else {
      throw SatchelError(.noMemory, "no memory for an empty buffer")
    }
    text[count] = 0
    out.pointee = satchel_buffer(data: text, size: count)
    start = nil
  }
}

/// Reads an options struct of the host field by field.
///
/// The host may have been built with an older or a newer header: fields beyond its `size` have their
/// defaults, and fields that this library does not know must be zero. `Bool` and enum fields are read as
/// integers, since the host's bytes may be invalid values of these types.
struct OptionsReader<Options> {
  private let base: UnsafeRawPointer?
  private let size: Int

  /// The maximum plausible size of an options struct; a larger size means an uninitialised struct.
  private static var maxSize: Int { 1024 }

  /// - Parameter options: nil for all defaults
  /// - Throws: `SatchelError` `.invalid` for an invalid size, and for unknown fields that are set
  init(_ options: UnsafePointer<Options>?) throws {
    guard let options else {
      base = nil
      size = 0
      return
    }
    let raw = UnsafeRawPointer(options)
    let stated = raw.loadUnaligned(as: Int.self)
    guard stated >= MemoryLayout<Int>.size, stated <= Self.maxSize else {
      throw SatchelError(
        .invalid, "options: invalid size \(stated); initialise the struct with its INIT macro")
    }
    for offset in stride(from: MemoryLayout<Options>.size, to: stated, by: 1)
    where raw.load(fromByteOffset: offset, as: UInt8.self) != 0 {
      throw SatchelError(.invalid, "options: a field is set that only a newer version of the library knows")
    }
    base = raw
    size = stated
  }

  @inline(__always)
  func flag(_ field: KeyPath<Options, Bool>, default standard: Bool = false) -> Bool {
    read(field).map { ($0 as UInt8) != 0 } ?? standard
  }

  @inline(__always)
  func number<Number: FixedWidthInteger>(_ field: KeyPath<Options, Number>, default standard: Number)
    -> Number
  {
    read(field) ?? standard
  }

  /// Returns the raw value of an enum field, which may be outside the enum.
  @inline(__always)
  func choice<Choice: RawRepresentable>(_ field: KeyPath<Options, Choice>) -> Choice.RawValue?
  where Choice.RawValue: FixedWidthInteger {
    read(field)
  }

  /// Returns the named policy; nil for SATCHEL_CONFLICT_DEFAULT.
  func conflictPolicy(_ field: KeyPath<Options, satchel_conflict_policy>) throws -> ConflictPolicy? {
    try ConflictPolicy(named: choice(field) ?? SATCHEL_CONFLICT_DEFAULT.rawValue)
  }

  /// Returns the maximum number of parallel operations; nil for 0, the library's default.
  func parallel(_ field: KeyPath<Options, Int32>) throws -> Int? {
    let number = number(field, default: 0)
    guard (0...16).contains(number) else {
      throw SatchelError(.invalid, "options: parallel: \(number) is not in 0 to 16")
    }
    return number == 0 ? nil : Int(number)
  }

  @inline(__always)
  func value<Value>(_ field: KeyPath<Options, Value>) -> Value? { read(field) }

  // Inlined, so that the compiler knows the field's offset; creating a key path at run time takes longer than
  // opening.
  @inline(__always)
  private func read<Value, Result>(_ field: KeyPath<Options, Value>) -> Result? {
    guard let base, let offset = MemoryLayout<Options>.offset(of: field),
      offset + MemoryLayout<Value>.size <= size
    else { return nil }
    return base.loadUnaligned(fromByteOffset: offset, as: Result.self)
  }
}

extension ConflictPolicy {
  /// Converts a `satchel_conflict_policy`; nil for SATCHEL_CONFLICT_DEFAULT.
  init?(named number: satchel_conflict_policy.RawValue) throws {
    switch satchel_conflict_policy(rawValue: number) {
    case SATCHEL_CONFLICT_DEFAULT: return nil
    case SATCHEL_CONFLICT_REMOTE_WINS: self = .remoteWins
    case SATCHEL_CONFLICT_LOCAL_WINS: self = .localWins
    case SATCHEL_CONFLICT_NEWEST_WINS: self = .newestWins
    case SATCHEL_CONFLICT_MERGE: self = .merge
    case SATCHEL_CONFLICT_ASK: self = .ask
    default: throw SatchelError(.invalid, "on_conflict: \(number) is not a satchel_conflict_policy")
    }
  }
}
