import SatchelCore
import SatchelJSON
import SatchelStorage

/// A bounded list, the newest item first, for example of searches, places or interactions.
public struct StateList: Sendable {
  /// An item and the time at which it was pushed, in Unix milliseconds.
  public struct Item: Equatable, Sendable {
    public var value: JSONValue
    public var time: Int64

    public init(value: JSONValue, time: Int64) {
      self.value = value
      self.time = time
    }
  }

  let state: StateStore
  let name: StateName
  let bounds: StateListBounds
  /// Is set with each addition; nil changes nothing.
  var mark: StateMark?

  private var target: StateTarget { .list(name) }
  private var location: String { target.location }

  /// Inserts a value in front, and removes the items that exceed the bounds.
  ///
  /// - Throws: `SatchelError` `.invalid` for a value that cannot be represented in JSON or is larger than 16
  ///   MB, `.readOnly`, `.closed`
  public func push(_ value: JSONValue) throws {
    try locating(target.id.details) {
      let bytes = try StateStore.bytes(of: value, at: location)
      let identity = try naming(location) { try ValueIdentity(value) }
      try state.checkKey(of: target.id)
      try state.add(target, .push(bytes, identity: identity, bounds), marking: mark)
    }
  }

  /// Inserts a value with a given time, for example one from a backup of another app, after the newer items.
  /// With unique items, an equal item that is as new or newer remains instead.
  ///
  /// Costs time in proportion to the length of the list, unless it is the newest.
  ///
  /// - Parameter time: Unix milliseconds, 0 or more
  /// - Throws: `SatchelError` `.invalid` for another time, and as `push`
  public func insert(_ value: JSONValue, at time: Int64) throws {
    guard (0...StoreClock.latest).contains(time) else {
      throw SatchelError(.invalid, "\(location): \(time) is not a time in Unix milliseconds")
        .at(target.id.details)
    }
    try locating(target.id.details) {
      let bytes = try StateStore.bytes(of: value, at: location)
      let identity = try naming(location) { try ValueIdentity(value) }
      try state.checkKey(of: target.id)
      try state.add(target, .insert(bytes, identity: identity, bounds, time: time), marking: mark)
    }
  }

  /// Returns the items within the bounds, the newest first.
  public func items() throws -> [Item] {
    try state.checkOpen()
    state.database.stampIfIdle()
    let found = try state.content(target.id, with: state.saver.operations(of: target))
    guard case .list(let list) = found.content else { return [] }
    let items = list.within(bounds, at: found.now)
    // An item that was reported as expired must not reappear when the clock is set back.
    if items.count < min(list.items.count, bounds.limit ?? Int.max) { state.database.noteExpiry() }
    return try locating(target.id.details) {
      try items.map { Item(value: try StateStore.value(of: $0.value, at: location), time: $0.time) }
    }
  }

  /// Removes the items that are equal to a value.
  public func remove(_ value: JSONValue) throws {
    try state.checkKey(of: target.id)
    try state.add(target, .drop(try naming(location) { try ValueIdentity(value) }))
  }

  /// Removes all items.
  public func clear() throws { try state.add(target, .remove) }
}

/// The bounds of a list.
struct StateListBounds: Equatable, Sendable {
  /// The maximum number of items; nil for no limit.
  var limit: Int?
  /// The maximum age of an item in milliseconds; nil for no limit.
  var maxAge: Int64?
  /// Whether pushing an item that is in the list moves it to the front.
  var isUnique = false

  /// Whether an item pushed at `time` is within the maximum age at `now`.
  func admits(_ time: Int64, at now: Int64) -> Bool {
    guard let maxAge else { return true }
    // A time that is ahead is of a clock that was: unknown, as long as nothing is written.
    return now - time <= maxAge && !StoreClock.isAhead(time, of: now)
  }
}
