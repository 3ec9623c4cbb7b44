/// Receives the members of an object in order. Their keys are distinct, and need no escapes.
package protocol JSONMemberSink: ~Copyable {
  mutating func add(_ key: StaticString, _ value: Int64?)
  mutating func add(_ key: StaticString, _ value: Double?)
  mutating func add(_ key: StaticString, _ value: String?)
  mutating func add(_ key: StaticString, _ value: Bool?)
  mutating func add(_ key: StaticString, _ value: JSONValue)
}

/// Collects the members of an object.
package struct JSONMemberList: JSONMemberSink {
  private var members: [(key: String, value: JSONValue)] = []

  package init() {}

  package mutating func add(_ key: StaticString, _ value: Int64?) {
    members.append((key.description, value.map { .int($0) } ?? .null))
  }

  package mutating func add(_ key: StaticString, _ value: Double?) {
    members.append((key.description, value.map { .double($0) } ?? .null))
  }

  package mutating func add(_ key: StaticString, _ value: String?) {
    members.append((key.description, value.map { .string($0) } ?? .null))
  }

  package mutating func add(_ key: StaticString, _ value: Bool?) {
    members.append((key.description, value.map { .bool($0) } ?? .null))
  }

  package mutating func add(_ key: StaticString, _ value: JSONValue) {
    members.append((key.description, value))
  }

  package var json: JSONValue { .object(JSONObject(distinct: members)) }
}

/// Writes objects as compact JSON without making values of them, for lists of many.
package struct JSONMemberWriter: JSONMemberSink, ~Copyable {
  private var start = UnsafeMutablePointer<UInt8>.allocate(capacity: 1024)
  private var capacity = 1024
  private var count = 0
  /// Whether a comma precedes the next member or element.
  private var needsComma = false
  private var failure: JSONError?

  package init() {}

  deinit { start.deallocate() }

  package mutating func beginObject() {
    reserve(2)
    if needsComma { put(UInt8(ascii: ",")) }
    put(UInt8(ascii: "{"))
    needsComma = false
  }

  package mutating func endObject() { end(UInt8(ascii: "}")) }

  package mutating func beginArray(_ key: StaticString) {
    write(key, reserving: 1)
    put(UInt8(ascii: "["))
    needsComma = false
  }

  package mutating func endArray() { end(UInt8(ascii: "]")) }

  package mutating func add(_ key: StaticString, _ value: Int64?) {
    write(key, reserving: 20)
    guard let value else { return put("null") }
    var rest = value.magnitude
    if value < 0 { put(UInt8(ascii: "-")) }
    let first = count
    repeat {
      put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    var digits = UnsafeMutableBufferPointer(start: start + first, count: count - first)
    digits.reverse()
  }

  package mutating func add(_ key: StaticString, _ value: Double?) {
    add(key, value.map { .double($0) } ?? .null)
  }

  package mutating func add(_ key: StaticString, _ value: JSONValue) {
    write(key, reserving: 0)
    var bytes: [UInt8] = []
    do { try value.write(into: &bytes) } catch { failure = failure ?? error as? JSONError }
    bytes.withUnsafeBufferPointer { put($0) }
  }

  package mutating func add(_ key: StaticString, _ value: Bool?) {
    write(key, reserving: 5)
    guard let value else { return put("null") }
    put(value ? "true" : "false")
  }

  package mutating func add(_ key: StaticString, _ value: String?) {
    write(key, reserving: 4)
    guard var value else { return put("null") }
    value.withUTF8 { text in
      if text.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
        var bytes: [UInt8] = []
        JSONValue.write(String(decoding: text, as: UTF8.self), into: &bytes)
        return bytes.withUnsafeBufferPointer { put($0) }
      }
      reserve(text.count + 2)
      put(UInt8(ascii: "\""))
      put(text)
      put(UInt8(ascii: "\""))
    }
  }

  /// Passes the text to `body`.
  ///
  /// - Throws: `JSONError` for a number that is not finite
  package func withText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
    if let failure { throw failure }
    return try body(UnsafeRawBufferPointer(start: start, count: count))
  }

  // MARK: Bytes

  private mutating func end(_ bracket: UInt8) {
    reserve(1)
    put(bracket)
    needsComma = true
  }

  /// Writes a key, and reserves so many bytes for its value.
  private mutating func write(_ key: StaticString, reserving size: Int) {
    reserve(key.utf8CodeUnitCount + 4 + size)
    if needsComma { put(UInt8(ascii: ",")) }
    needsComma = true
    put(UInt8(ascii: "\""))
    put(key)
    put(UInt8(ascii: "\""))
    put(UInt8(ascii: ":"))
  }

  private mutating func reserve(_ size: Int) {
    guard capacity - count < size else { return }
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * 2 + size)
    larger.update(from: start, count: count)
    start.deallocate()
    (start, capacity) = (larger, capacity * 2 + size)
  }

  // The bytes of these were reserved.

  private mutating func put(_ byte: UInt8) {
    start[count] = byte
    count += 1
  }

  private mutating func put(_ text: StaticString) {
    (start + count).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
    count += text.utf8CodeUnitCount
  }

  private mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
    reserve(bytes.count)
    guard let source = bytes.baseAddress else { return }
    (start + count).update(from: source, count: bytes.count)
    count += bytes.count
  }
}
