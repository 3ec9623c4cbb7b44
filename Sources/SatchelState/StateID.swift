import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

extension Change {
  /// A changed value, list, set or scores of state.
  public struct StateKey: Hashable, Sendable {
    public enum Kind: String, Sendable, CaseIterable { case value, list, set, scores }

    public var kind: Kind
    /// The value's key, or the name of the list, the set or the scores.
    public var name: String

    public init(_ kind: Kind, _ name: String) {
      self.kind = kind
      self.name = name
    }
  }

  /// The changed state; empty for changes of other subjects, for events, and with `concernsAll`.
  public var state: [StateKey] {
    keys(of: .state).compactMap { StateID($0).map { StateKey($0.kind, $0.name.text) } }
  }
}

/// A name or key of state: 1 to 255 bytes of UTF-8, compared and sorted by its bytes.
///
/// Swift's string comparison treats two encodings of "é" as equal, so one of the two keys would be lost.
struct StateName: Hashable, Comparable, Sendable {
  let text: String

  /// - Parameter role: for the message, such as "key"
  /// - Throws: `.invalid`
  init(_ text: String, as role: String) throws {
    guard (1...255).contains(text.utf8.count) else {
      throw SatchelError(.invalid, "\(role): has \(text.utf8.count) bytes; it must have 1 to 255")
        .at(subject: Change.Subject.state.rawValue, limit: 255)
    }
    guard !text.utf8.contains(0) else {
      throw SatchelError(.invalid, "\(role): contains a NUL").at(subject: Change.Subject.state.rawValue)
    }
    self.text = text
  }

  /// Creates a name from text that has been validated.
  init(sound text: String) { self.text = text }

  /// The identity of a JSON value among items and members: the SHA-256 of its canonical form, in hexadecimal digits.
  ///
  /// - Throws: `JSONError` for a value that cannot be represented in JSON
  init(identityOf value: JSONValue) throws {
    text = SHA256.digest(try value.canonicalText()).hexadecimal
  }

  static func == (left: StateName, right: StateName) -> Bool { left.text.hasSameBytes(as: right.text) }

  static func < (left: StateName, right: StateName) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    let hashed: Void? = text.utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if hashed == nil { for byte in text.utf8 { hasher.combine(byte) } }
  }
}

/// The kind and name of a value, a list, a set or scores; compared by bytes.
struct StateID: Hashable, Sendable {
  typealias Kind = Change.StateKey.Kind

  let kind: Kind
  let name: StateName

  init(_ kind: Kind, _ name: StateName) {
    self.kind = kind
    self.name = name
  }

  /// - Parameter text: `{kind}/{name}`; nil is returned for any other string
  init?(_ text: String) {
    // By bytes, not characters: a combining mark may follow the slash.
    let bytes = text.utf8
    guard let slash = bytes.firstIndex(of: UInt8(ascii: "/")),
      let kind = Kind(rawValue: String(text[..<slash])),
      let name = try? StateName(String(text[bytes.index(after: slash)...]), as: "name")
    else { return nil }
    self.init(kind, name)
  }

  /// `{kind}/{name}`: the key in the change log and in the JSON of the C interface, and the id in the sync
  /// log.
  var text: String { "\(kind.rawValue)/\(name.text)" }

  /// The location for messages.
  var location: String { kind == .value ? "state/\(name.text)" : "state/\(text)" }

  /// Where it is, for errors.
  var details: SatchelError.Details {
    SatchelError.Details(
      subject: Change.Subject.state.rawValue, collection: kind.rawValue, id: name.text)
  }

  /// The key in the sync log; nil for a name that cannot be synchronized.
  var syncKey: SyncKey? { try? SyncKey(SyncKey.state, text) }
}

/// Whether a value, a list, a set or scores are synchronized.
struct StateMark: Equatable, Sendable {
  let isSynced: Bool
  /// The bounds that merging applies; nil for a value, a set, and unsynchronized state.
  let bounds: StateBounds?

  init(isSynced: Bool, bounds: StateBounds? = nil) {
    self.isSynced = isSynced
    self.bounds = isSynced ? bounds : nil
  }

  /// Returns the mark that a host requests; nil when it does not change the mark.
  ///
  /// - Throws: `SatchelError` `.invalid` for a name that cannot be synchronized
  static func requested(_ isSynced: Bool?, of id: StateID, bounds: StateBounds? = nil) throws -> StateMark? {
    guard let isSynced else { return nil }
    guard !isSynced || SyncKey.isID(id.text) else {
      let limit = 254 - id.kind.rawValue.utf8.count
      throw SatchelError(
        .invalid,
        "\(id.location): cannot be synchronized: has more than \(limit) bytes, or a control character"
      ).at(id.details).at(limit: limit)
    }
    return StateMark(isSynced: isSynced, bounds: bounds)
  }
}

/// The bounds of a list or of scores.
struct StateBounds: Equatable, Sendable {
  /// The maximum number of items; nil for no limit.
  var limit: Int?
  /// The maximum age of an item in milliseconds; nil for no limit.
  var maxAge: Int64?
  /// Whether pushing an item that is in the list moves it to the front.
  var isUnique = false
  /// The least and the greatest score; nil for a list.
  var range: ClosedRange<Double>?

  /// Whether an item pushed at `time` is within the maximum age at `now`.
  func admits(_ time: Int64, at now: Int64) -> Bool {
    guard let maxAge else { return true }
    // A time that is ahead is of a clock that was: unknown, as long as nothing is written.
    return now - time <= maxAge && !StoreClock.isAhead(time, of: now)
  }

  /// Returns a score within the bounds: 0, or the bound next to it, for none.
  func bounded(_ score: Double?) -> Double {
    // An infinite sum is at its bound, like any other that is too large.
    let range = range ?? -.greatestFiniteMagnitude ... .greatestFiniteMagnitude
    return min(max(score ?? 0, range.lowerBound), range.upperBound)
  }

  /// Returns the bounds that result from those of two devices; the operation is commutative.
  static func merged(base: StateBounds?, local: StateBounds?, remote: StateBounds?) -> StateBounds? {
    guard let local, let remote, local != remote else { return local ?? remote }
    if base == local { return remote }
    if base == remote { return local }
    // The narrowest bounds that contain both; a limit that is nil contains all.
    var widened = StateBounds(isUnique: local.isUnique || remote.isUnique)
    if let one = local.limit, let two = remote.limit { widened.limit = max(one, two) }
    if let one = local.maxAge, let two = remote.maxAge { widened.maxAge = max(one, two) }
    if let one = local.range, let two = remote.range {
      widened.range = min(one.lowerBound, two.lowerBound)...max(one.upperBound, two.upperBound)
    }
    return widened
  }

  // MARK: As JSON

  /// The bounds in the members of an object; nil for invalid ones, and for a value or a set.
  init?(_ object: JSONValue, of kind: StateID.Kind) {
    switch kind {
    case .value, .set: return nil
    case .list:
      if let limit = object["limit"] {
        guard let limit = limit.intValue, limit >= 1 else { return nil }
        self.limit = Int(exactly: limit)
      }
      if let age = object["max_age"] {
        guard let age = age.intValue, (1...StoreClock.latest).contains(age) else { return nil }
        maxAge = age
      }
      if let unique = object["unique"] {
        guard let unique = unique.boolValue else { return nil }
        isUnique = unique
      }
    case .scores:
      guard let minimum = object["minimum"]?.doubleValue, let maximum = object["maximum"]?.doubleValue,
        minimum.isFinite, maximum.isFinite, minimum <= maximum
      else { return nil }
      range = minimum...maximum
    }
  }

  init(limit: Int? = nil, maxAge: Int64? = nil, isUnique: Bool = false, range: ClosedRange<Double>? = nil) {
    (self.limit, self.maxAge, self.isUnique, self.range) = (limit, maxAge, isUnique, range)
  }

  func write(into object: inout JSONObject) {
    if let range {
      object["minimum"] = .double(range.lowerBound)
      object["maximum"] = .double(range.upperBound)
      return
    }
    if let limit { object["limit"] = .int(Int64(limit)) }
    if let maxAge { object["max_age"] = .int(maxAge) }
    object["unique"] = .bool(isUnique)
  }
}
