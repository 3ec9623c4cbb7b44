import SatchelCore
import SatchelJSON
import SatchelStorage

/// The content of a value, a list, a set or scores.
enum StateContent: Equatable, Sendable {
  /// Nil for no value.
  case value(JSONValue?)
  case list(StateListContent)
  /// JSON, by the member's identity in hexadecimal digits.
  case set([StateName: [UInt8]])
  case scores([StateName: Double])

  /// No content.
  init(_ kind: Change.StateKey.Kind) {
    switch kind {
    case .value: self = .value(nil)
    case .list: self = .list(StateListContent(items: []))
    case .set: self = .set([:])
    case .scores: self = .scores([:])
    }
  }

  var isEmpty: Bool {
    switch self {
    case .value(let value): value == nil
    case .list(let list): list.items.isEmpty
    case .set(let members): members.isEmpty
    case .scores(let scores): scores.isEmpty
    }
  }

  /// Applies a change that is not sealed.
  mutating func apply(_ operation: StateOperation) {
    switch (self, operation.action) {
    // The bytes are those of a value that was given.
    case (.value, .set(let bytes, _)): self = .value(try? JSONValue(parsing: bytes))
    case (.value, .remove): self = .value(nil)
    case (.value, _): break
    case (.list(var list), let action):
      // Released, so that the items are changed in place.
      self = .value(nil)
      list.apply(action, at: operation.time)
      self = .list(list)
    case (.set(var members), let action):
      guard let key = operation.target.key else { return }
      self = .value(nil)
      if action == .remove {
        members[key] = nil
      } else if members[key] == nil {
        members[key] = action.stored?.bytes
      }
      self = .set(members)
    case (.scores(var scores), let action):
      guard let key = operation.target.key else { return }
      self = .value(nil)
      scores[key] = action.score(after: scores[key])
      self = .scores(scores)
    }
  }
}

// MARK: As JSON

extension StateContent {
  /// The member of a document that has the content.
  static func member(_ kind: Change.StateKey.Kind) -> String {
    switch kind {
    case .value: "value"
    case .list: "items"
    case .set: "members"
    case .scores: "scores"
    }
  }

  /// Reads that member; nil for an invalid one.
  init?(_ kind: Change.StateKey.Kind, _ json: JSONValue) {
    switch kind {
    case .value:
      guard json.depth <= StateStore.maximumDepth else { return nil }
      self = .value(json)
    case .list:
      guard let list = StateListContent(json) else { return nil }
      self = .list(list)
    case .set:
      guard let values = json.arrayValue else { return nil }
      var members: [StateName: [UInt8]] = [:]
      for value in values {
        guard let identity = try? ValueIdentity(value), let bytes = Self.bytes(value) else { return nil }
        members[StateName(sound: identity.hexadecimal)] = bytes
      }
      self = .set(members)
    case .scores:
      guard let values = json.objectValue else { return nil }
      var scores: [StateName: Double] = [:]
      for (key, value) in values {
        guard let name = try? StateName(key, as: "key"), let score = value.doubleValue, score.isFinite else {
          return nil
        }
        scores[name] = score
      }
      self = .scores(scores)
    }
  }

  /// Returns a value's JSON; nil for one that no call accepts.
  static func bytes(_ value: JSONValue) -> [UInt8]? {
    guard value.depth <= StateStore.maximumDepth, let bytes = try? value.serialized(),
      bytes.count <= StateStore.maximumBytes
    else { return nil }
    return bytes
  }

  /// Returns that member; nil for no value.
  ///
  /// - Throws: `.damaged` for content that is not JSON
  func json(at location: String) throws -> JSONValue? {
    switch self {
    case .value(let value): return value
    case .list(let list):
      return .array(
        try list.items.map { item in
          ["value": try StateStore.value(of: item.value, at: location), "time": .int(item.time)]
        })
    case .set(let members):
      let sorted = members.sorted { $0.key < $1.key }
      return .array(try sorted.map { try StateStore.value(of: $0.value, at: location) })
    case .scores(let scores):
      let sorted = scores.sorted { $0.key < $1.key }
      // The sum makes 0.0 of -0.0.
      return .object(JSONObject(sorted.map { ($0.key.text, .double($0.value + 0)) }))
    }
  }
}

extension StateOperation.Action {
  /// The stored value after this action; nil when the action stores no value.
  var stored: (bytes: [UInt8], isSealed: Bool)? {
    if case .set(let bytes, let isSealed) = self { return (bytes, isSealed) }
    return nil
  }
}

// MARK: - Lists

/// The items of a list, the newest first.
struct StateListContent: Equatable, Sendable {
  struct Item: Equatable, Sendable {
    var value: [UInt8]
    var identity: ValueIdentity
    var time: Int64
  }

  var items: [Item]

  init(items: [Item]) { self.items = items }

  /// Reads `[{"value", "time"}, …]`, the newest first; nil for invalid JSON.
  init?(_ json: JSONValue) {
    guard let elements = json.arrayValue else { return nil }
    items = []
    var latest = StoreClock.latest
    for element in elements {
      guard let value = element["value"], let time = element["time"]?.intValue, (0...latest).contains(time),
        let bytes = StateContent.bytes(value), let identity = try? ValueIdentity(value)
      else { return nil }
      items.append(Item(value: bytes, identity: identity, time: time))
      latest = time
    }
  }

  mutating func apply(_ action: StateOperation.Action, at operationTime: Int64) {
    switch action {
    case .push(let value, let identity, let bounds):
      // Times never decrease, not even when a spooled item is drained late.
      let time = max(operationTime, items.first?.time ?? 0)
      if bounds.isUnique { items.removeAll { $0.identity == identity } }
      items.insert(Item(value: value, identity: identity, time: time), at: 0)
      items = within(bounds, at: time)
    case .insert(let value, let identity, let bounds, let time):
      if bounds.isUnique {
        if items.contains(where: { $0.identity == identity && $0.time >= time }) { return }
        items.removeAll { $0.identity == identity }
      }
      let position = items.firstIndex { $0.time <= time } ?? items.endIndex
      items.insert(Item(value: value, identity: identity, time: time), at: position)
      items = within(bounds, at: items.first?.time ?? time)
    case .drop(let identity): items.removeAll { $0.identity == identity }
    case .remove: items = []
    case .set, .add, .mark, .locked: break
    }
  }

  func within(_ bounds: StateListBounds, at now: Int64) -> [Item] {
    let young = items.filter { bounds.admits($0.time, at: now) }
    return Array(young.prefix(bounds.limit ?? Int.max))
  }

  /// Brings times that are later than `latest` to it: those of a clock that was ahead.
  mutating func limitTimes(to latest: Int64) {
    for index in items.indices {
      guard items[index].time > latest else { return }
      items[index].time = latest
    }
  }
}
