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
  let id: StateID
  let bounds: StateBounds
  /// Is set with each addition; nil changes nothing.
  var mark: StateMark?

  private var target: StateTarget { StateTarget(id: id) }

  /// Inserts a value in front, and removes the items that exceed the bounds.
  ///
  /// - Throws: `SatchelError` `.invalid` for a value that cannot be represented in JSON or is larger than 16
  ///   MB, `.readOnly`, `.closed`
  public func push(_ value: JSONValue) throws { try push(value, at: nil) }

  /// Inserts a value with a given time, for example one from a backup of another app, after the newer items.
  /// With unique items, an equal item that is as new or newer remains instead.
  ///
  /// Costs time in proportion to the length of the list, unless it is the newest.
  ///
  /// - Parameter time: Unix milliseconds, 0 or more
  /// - Throws: `SatchelError` `.invalid` for another time, and as `push`
  public func insert(_ value: JSONValue, at time: Int64) throws {
    guard (0...StoreClock.latest).contains(time) else {
      throw SatchelError(.invalid, "\(id.location): \(time) is not a time in Unix milliseconds")
        .at(id.details)
    }
    try push(value, at: time)
  }

  private func push(_ value: JSONValue, at time: Int64?) throws {
    try locating(id.details) {
      try StateStore.check(value, at: id.location)
      let identity = try naming(id.location) { try StateName(identityOf: value) }
      try state.checkKey(of: id)
      try state.add(target, .push(value, identity: identity, bounds, time: time), marking: mark)
    }
  }

  /// Returns the items within the bounds, the newest first.
  public func items() throws -> [Item] {
    try state.checkOpen()
    state.database.stampIfIdle()
    let found = try state.content(id, with: state.saver.operations(of: target))
    let (all, items) = (found.content.items, found.content.items.within(bounds, at: found.now))
    // An item that was reported as expired must not reappear when the clock is set back.
    if items.count < min(all.count, bounds.limit ?? Int.max) { state.database.noteExpiry() }
    return items.map { Item(value: $0.value, time: $0.time) }
  }

  /// Removes the items that are equal to a value.
  public func remove(_ value: JSONValue) throws {
    try state.checkKey(of: id)
    try state.add(target, .drop(try naming(id.location) { try StateName(identityOf: value) }))
  }

  /// Removes all items.
  public func clear() throws { try state.add(target, .remove) }
}

/// A set of values, for example favourites. Values are equal whatever the order of their objects' keys.
public struct StateSet: Sendable {
  let state: StateStore
  let id: StateID

  private func target(_ value: JSONValue) throws -> StateTarget {
    StateTarget(id: id, key: try naming(id.location) { try StateName(identityOf: value) })
  }

  /// Adds a value.
  ///
  /// - Returns: false when the set already has it
  /// - Throws: `SatchelError` `.invalid` for a value that cannot be represented in JSON or is larger than 16
  ///   MB, `.readOnly`, `.closed`
  @discardableResult
  public func add(_ value: JSONValue) throws -> Bool {
    try locating(id.details) {
      try StateStore.check(value, at: id.location)
      let target = try target(value)
      try state.checkKey(of: id)
      return try state.add(target, .set(value)) { try !state.hasMember(target) }
    }
  }

  /// Removes a value.
  ///
  /// - Returns: whether the set had it
  @discardableResult
  public func remove(_ value: JSONValue) throws -> Bool {
    let target = try target(value)
    try state.checkKey(of: id)
    return try state.add(target, .remove) { try state.hasMember(target) }
  }

  /// Removes all values; see `StateStore.clear(_:_:)`.
  public func clear() throws { try state.clear(id) }

  /// Whether the set has a value.
  public func contains(_ value: JSONValue) throws -> Bool {
    try state.checkOpen()
    return try state.hasMember(target(value))
  }

  /// Returns all values in a stable order: that of their JSON texts.
  public func values() throws -> [JSONValue] {
    try state.content(id).members.values.sortedCanonically().map(\.value)
  }
}

/// Numbers by key that begin at 0, or at the bound next to it, are added to and stay within bounds, for example preferences or habits.
public struct StateScores: Sendable {
  let state: StateStore
  let id: StateID
  public let bounds: ClosedRange<Double>

  private func target(_ key: String) throws -> StateTarget {
    StateTarget(id: id, key: try StateName(key, as: "key"))
  }

  /// Adds to a score.
  ///
  /// - Returns: the new score, within the bounds
  /// - Throws: `SatchelError` `.invalid` for a delta that is not finite, `.readOnly`, `.closed`
  @discardableResult
  public func add(_ key: String, _ delta: Double) throws -> Double {
    guard delta.isFinite else {
      throw SatchelError(.invalid, "\(id.location): “\(key)” cannot be changed by \(delta)").at(id.details)
    }
    let (target, action) = (try target(key), StateOperation.Action.add(delta, StateBounds(range: bounds)))
    try state.checkKey(of: id)
    return bounded(action.score(after: try state.add(target, action) { try state.score(target) }))
  }

  /// Returns a score; 0, or the nearest bound, when nothing was added to it yet.
  public func value(_ key: String) throws -> Double {
    try state.checkOpen()
    return bounded(try state.score(target(key)))
  }

  /// Returns all scores, in byte order of their keys.
  public func all() throws -> [(key: String, value: Double)] {
    try state.content(id).scores.ordered { $0.key < $1.key }.map { ($0.key.text, bounded($0.value)) }
  }

  /// Removes a score.
  public func remove(_ key: String) throws {
    try state.checkKey(of: id)
    try state.add(target(key), .remove)
  }

  /// Removes all scores; see `StateStore.clear(_:_:)`.
  public func clear() throws { try state.clear(id) }

  private func bounded(_ score: Double?) -> Double { StateBounds(range: bounds).bounded(score) }
}
