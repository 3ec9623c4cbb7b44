import SatchelCore
import SatchelJSON
import SatchelStorage

/// One change of state. It describes the action, not its result, so that the changes of several handles and
/// processes add up.
struct StateOperation: Equatable, Sendable {
  enum Action: Equatable, Sendable {
    /// Sets a value, or adds a member that is not in the set yet; as JSON, or sealed.
    case set([UInt8], isSealed: Bool)
    /// Removes a value, a member or a score, or empties a list.
    case remove
    /// Inserts an item in front of a list.
    case push([UInt8], identity: ValueIdentity, StateListBounds)
    /// Inserts an item with a given time at its position in a list.
    case insert([UInt8], identity: ValueIdentity, StateListBounds, time: Int64)
    /// Removes the items that are equal to a value from a list.
    case drop(ValueIdentity)
    /// Adds to a score.
    case add(Double, minimum: Double, maximum: Double)
    /// Sets whether a value, a list, a set or scores are synchronized.
    case mark(StateMark)
    /// A change of a sensitive list, set or scores whose key is not set, sealed.
    case locked([UInt8])

    /// Whether it is one of the pending changes that are counted.
    var isCounted: Bool {
      if case .mark = self { return false }
      return true
    }

    /// Whether it supersedes earlier actions on the same target.
    var supersedesEarlier: Bool {
      switch self {
      case .set, .remove, .mark: true
      default: false
      }
    }
  }

  let target: StateTarget
  let action: Action
  /// Unix milliseconds.
  let time: Int64
  /// The handle that made the change, and the sequence number that the store records for that handle when it
  /// has saved the change.
  let writer: Int64
  let sequence: Int64
  /// Its position among the changes of this handle, from 1; 0 or less for changes that an earlier handle left
  /// in the outbox file.
  let number: Int64

  /// Whether nothing of what the store has is left: a value is set or removed, or a list is emptied.
  var replacesContent: Bool {
    switch (target.kind, action) {
    case (.value, _), (.list, .remove): true
    default: false
    }
  }

  /// The change, made at `now` if a clock that was ahead says when.
  func credible(at now: Int64) -> StateOperation {
    StateOperation(
      target: target, action: action, time: StoreClock.credible(time, at: now), writer: writer,
      sequence: sequence, number: number)
  }
}

/// The target of a change of state. Changes of different targets are independent.
struct StateTarget: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case value, list, member, score
    /// The mark of a value, a list, a set or scores.
    case mark(Change.StateKey.Kind)
    /// A list, a set or scores: the target of a sealed change, whose details are not known.
    case locked(Change.StateKey.Kind)
  }

  let kind: Kind
  /// The value's key, or the name of the list, the set or the scores.
  let name: StateName
  /// For a set, the identity of the member; for scores, the key.
  let key: StateName?

  static func value(_ key: StateName) -> StateTarget { StateTarget(kind: .value, name: key, key: nil) }
  static func list(_ name: StateName) -> StateTarget { StateTarget(kind: .list, name: name, key: nil) }
  static func member(_ name: StateName, _ identity: ValueIdentity) -> StateTarget {
    StateTarget(kind: .member, name: name, key: StateName(sound: identity.hexadecimal))
  }
  static func score(_ name: StateName, _ key: StateName) -> StateTarget {
    StateTarget(kind: .score, name: name, key: key)
  }

  static func mark(_ id: StateID) -> StateTarget {
    StateTarget(kind: .mark(id.kind), name: id.name, key: nil)
  }

  /// The value, list, set or scores that observers are notified of.
  var id: StateID {
    switch kind {
    case .value: StateID(.value, name)
    case .list: StateID(.list, name)
    case .member: StateID(.set, name)
    case .score: StateID(.scores, name)
    case .mark(let kind), .locked(let kind): StateID(kind, name)
    }
  }

  /// The location for messages.
  var location: String { id.location }
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

  static func == (left: StateName, right: StateName) -> Bool { left.text.hasSameBytes(as: right.text) }

  static func < (left: StateName, right: StateName) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}
