import SatchelJSON
import SatchelStorage

/// The members of a set: `{"members": […]}`, in the order of their JSON texts, with the keys of objects
/// sorted.
struct StateSyncSet: StateSyncContent {
  /// JSON, by the member's identity in hexadecimal digits.
  var members: [StateName: [UInt8]] = [:]
  var bounds: StateBounds?
  var isSensitive = false
  var isEmpty: Bool { members.isEmpty }

  init() {}

  init?(document: JSONValue) {
    guard let values = document["members"]?.arrayValue else { return nil }
    for value in values {
      guard let identity = try? ValueIdentity(value), let text = try? ValueIdentity.text(of: value),
        text.count <= StateStore.maximumBytes
      else { return nil }
      members[StateName(sound: identity.hexadecimal)] = text
    }
  }

  init(_ name: StateName, bounds: StateBounds?, in tables: StateTables) throws {
    members = try tables.members(name)
  }

  func document(at location: String) throws -> JSONValue {
    let texts = try members.values.map { bytes in
      let value = try StateStore.value(of: bytes, at: location)
      return try naming(location) { try ValueIdentity.text(of: value) }
    }
    let sorted = texts.sorted { $0.lexicographicallyPrecedes($1) }
    return ["members": .array(try sorted.map { try StateStore.value(of: $0, at: location) })]
  }

  func replace(_ old: Self, _ name: StateName, time: Int64, in tables: StateTables) throws {
    let sealing = try tables.sealingForWriting(StateID(.set, name))
    for key in old.members.keys where members[key] == nil {
      try tables.delete(StateTarget(kind: .member, name: name, key: key))
    }
    for (key, bytes) in members where old.members[key] == nil {
      try tables.put(StateTarget(kind: .member, name: name, key: key), bytes, sealing, time: time)
    }
  }

  func hasSameElements(as other: Self) -> Bool {
    members.count == other.members.count && members.keys.allSatisfy { other.members[$0] != nil }
  }

  static func newestTime(_ name: StateName, in tables: StateTables) throws -> Int64 {
    try tables.newestTime(in: StateSpace.members(of: name))
  }

  static func combined(
    base: Self?, _ local: Self, _ remote: Self, bounds: StateBounds?, newer: StateSyncNewer?
  ) -> Self {
    var result = StateSyncSet()
    for (key, bytes) in local.members.merging(remote.members, uniquingKeysWith: Self.first) {
      // Keeps members that both have, and those that one has added.
      let isShared = local.members[key] != nil && remote.members[key] != nil
      if isShared || base?.members[key] == nil { result.members[key] = bytes }
    }
    return result
  }

  private static func first(_ one: [UInt8], _ two: [UInt8]) -> [UInt8] {
    two.lexicographicallyPrecedes(one) ? two : one
  }
}
