/// One call of `JSONValue(encoding:)`.
final class JSONEncodingRun {
  /// The first error of a call that has no way to throw; it is thrown when the next one can.
  var failure: EncodingError?
}

/// Where an encoder stands, and what can be encoded there.
struct JSONEncodingPlace {
  /// How many `encode(to:)` may be under way: types that wrap each other make more than there are levels.
  private static let maximumCalls = 2 * JSONValue.maximumDepth

  let path: [any CodingKey]
  let calls: Int
  let run: JSONEncodingRun

  /// The place of a member or element.
  func child(_ key: any CodingKey) -> JSONEncodingPlace {
    JSONEncodingPlace(path: path + [key], calls: calls, run: run)
  }

  /// Any value; nil when it encodes nothing.
  func encode<Value: Encodable>(_ value: Value) throws -> JSONValue? {
    if let json = value as? JSONValue {
      guard path.count + json.depth <= JSONValue.maximumDepth else {
        throw failure(value, JSONError.tooDeep.reason)
      }
      return json
    }
    guard calls < JSONEncodingPlace.maximumCalls else { throw failure(value, JSONError.tooDeep.reason) }
    if let failure = run.failure { throw failure }
    let slot = JSONEncodingSlot()
    let inside = JSONEncodingPlace(path: path, calls: calls + 1, run: run)
    try value.encode(to: JSONValueEncoder(slot: slot, place: inside))
    if let failure = run.failure { throw failure }
    return slot.finish()
  }

  func json(_ value: some FixedWidthInteger, key: (any CodingKey)? = nil) throws -> JSONValue {
    guard let integer = Int64(exactly: value) else {
      throw failure(value, "the integer \(value) is beyond Int64", key: key)
    }
    return .int(integer)
  }

  func json(_ value: Double, key: (any CodingKey)? = nil) throws -> JSONValue {
    guard value.isFinite else { throw failure(value, "\(value) has no form in JSON", key: key) }
    return .double(value)
  }

  func json(_ value: Float, key: (any CodingKey)? = nil) throws -> JSONValue {
    guard value.isFinite else { throw failure(value, "\(value) has no form in JSON", key: key) }
    // 0.1 as Float is 0.10000000149011612 as Double, which nobody has written.
    if let shortest = Double(value.description), Float(shortest) == value { return .double(shortest) }
    return .double(Double(value))
  }

  /// The text of a key, which must be one that can be read again.
  func name(_ key: any CodingKey) throws -> String {
    let name = key.stringValue
    guard !name.utf8.contains(0) else { throw failure(name, "a key with a NUL in it") }
    return name
  }

  func failure(_ value: Any, _ reason: String, key: (any CodingKey)? = nil) -> EncodingError {
    let path = key.map { self.path + [$0] } ?? self.path
    return .invalidValue(
      value, .init(codingPath: path, debugDescription: JSONError.description(reason, at: path)))
  }

  /// Keeps an error for the next call that can throw.
  func keep(_ reason: String) {
    if run.failure == nil { run.failure = failure(JSONValue.null, reason) }
  }

  /// Settles what an encoder makes; an error is kept.
  func open(_ slot: JSONEncodingSlot, as kind: JSONEncodingSlot.Kind) {
    if path.count >= JSONValue.maximumDepth {
      keep(JSONError.tooDeep.reason)
    } else if !slot.become(kind) {
      keep("the value was begun as \(slot.kind) and is continued as \(kind)")
    }
  }
}
