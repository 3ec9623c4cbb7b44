/// The state of one call of `JSONValue(encoding:)`.
final class JSONEncodingRun {
  /// The first error of a method that cannot throw; the next method that can throws it.
  var failure: EncodingError?
}

/// The coding path of an encoder, and the encoding of values at it.
struct JSONEncodingContext {
  /// The maximum number of nested `encode(to:)` calls; types that wrap each other cause more calls than
  /// levels.
  private static let maximumCalls = 2 * JSONValue.maximumDepth

  let path: [any CodingKey]
  let calls: Int
  let run: JSONEncodingRun

  /// Returns the context of a member or element.
  func child(_ key: any CodingKey) -> JSONEncodingContext {
    JSONEncodingContext(path: path + [key], calls: calls, run: run)
  }

  /// Encodes any value; returns nil when it encodes nothing.
  func encode<Value: Encodable>(_ value: Value) throws -> JSONValue? {
    if let json = value as? JSONValue {
      guard path.count + json.depth <= JSONValue.maximumDepth else {
        throw failure(value, JSONError.tooDeep.reason)
      }
      return json
    }
    guard calls < JSONEncodingContext.maximumCalls else { throw failure(value, JSONError.tooDeep.reason) }
    if let failure = run.failure { throw failure }
    if let convert = JSONConversions.encoder(Value.self) {
      do {
        return try encode(convert(value))
      } catch let error where !(error is EncodingError) {
        throw failure(value, "\(error)")
      }
    }
    let slot = JSONEncodingSlot()
    let inside = JSONEncodingContext(path: path, calls: calls + 1, run: run)
    try value.encode(to: JSONValueEncoder(slot: slot, context: inside))
    if let failure = run.failure { throw failure }
    let json = slot.finish()
    // The dynamic cast takes longer than most values: only what became an array can need it.
    guard case .array? = json, value is any JSONUnordered else { return json }
    return try json?.sortedByText()
  }

  func json(_ value: Double, key: (any CodingKey)? = nil) throws -> JSONValue {
    guard value.isFinite else { throw failure(value, "\(value) cannot be represented in JSON", key: key) }
    return .double(value)
  }

  func json(_ value: Float, key: (any CodingKey)? = nil) throws -> JSONValue {
    guard value.isFinite else { throw failure(value, "\(value) cannot be represented in JSON", key: key) }
    // The shortest decimal is used: the Float 0.1 is 0.10000000149011612 as a Double.
    if let shortest = Double(value.description), Float(shortest) == value { return .double(shortest) }
    return .double(Double(value))
  }

  /// Returns the string of a key; a key with a NUL could not be parsed again.
  func name(_ key: any CodingKey) throws -> String {
    let name = key.stringValue
    guard !name.utf8.contains(0) else { throw failure(name, "the key contains a NUL") }
    return name
  }

  func failure(_ value: Any, _ reason: String, key: (any CodingKey)? = nil) -> EncodingError {
    let path = key.map { self.path + [$0] } ?? self.path
    return .invalidValue(
      value, .init(codingPath: path, debugDescription: JSONError.description(reason, at: path)))
  }

  /// Stores an error, which the next method that can throws.
  func deferError(_ reason: String) {
    if run.failure == nil { run.failure = failure(JSONValue.null, reason) }
  }

  /// Sets the kind of an encoder's value; an error is deferred.
  func open(_ slot: JSONEncodingSlot, as kind: JSONEncodingSlot.Kind) {
    if path.count >= JSONValue.maximumDepth {
      deferError(JSONError.tooDeep.reason)
    } else if !slot.become(kind) {
      deferError(
        "the value has a container of kind \(slot.kind.rawValue), and another of kind \(kind.rawValue) is requested"
      )
    }
  }
}

/// A value under construction, which an encoder and its containers share.
final class JSONEncodingSlot {
  enum Kind: String { case empty, scalar, array, object }

  private(set) var kind = Kind.empty
  private var scalar = JSONValue.null
  private var elements: [JSONValue] = []
  private var members = JSONObject()
  /// The nested containers and superclass encoders, which may be written to until `finish()`.
  private var open: [Int: JSONEncodingSlot] = [:]

  /// The number of elements.
  var count: Int { elements.count }

  /// Sets the kind of the value; returns false when it already has another kind.
  func become(_ wanted: Kind) -> Bool {
    if kind == .empty { kind = wanted }
    return kind == wanted
  }

  /// Sets a scalar or a whole value; returns false when a value is already set.
  func set(_ value: JSONValue) -> Bool {
    guard kind == .empty else { return false }
    kind = .scalar
    scalar = value
    return true
  }

  func append(_ value: JSONValue) { elements.append(value) }

  func set(_ value: JSONValue, key: String) {
    if !open.isEmpty, let position = members.position(of: key) { open[position] = nil }
    members[key] = value
  }

  /// Appends an element that is filled later.
  func appendSlot() -> JSONEncodingSlot {
    let slot = JSONEncodingSlot()
    open[elements.count] = slot
    elements.append(.null)
    return slot
  }

  /// Returns the slot of a member that is filled later; an existing one when the key was requested before.
  func slot(key: String) -> JSONEncodingSlot {
    if let position = members.position(of: key), let known = open[position] { return known }
    let slot = JSONEncodingSlot()
    members[key] = .null
    if let position = members.position(of: key) { open[position] = slot }
    return slot
  }

  /// Returns the value; nil when nothing was encoded.
  func finish() -> JSONValue? {
    for (position, slot) in open {
      // As in Foundation, a nested value that encodes nothing becomes an empty object.
      let value = slot.finish() ?? .object(JSONObject())
      if kind == .array { elements[position] = value } else { members.put(value, at: position) }
    }
    open = [:]
    switch kind {
    case .empty: return nil
    case .scalar: return scalar
    case .array: return .array(elements)
    case .object: return .object(members)
    }
  }
}
