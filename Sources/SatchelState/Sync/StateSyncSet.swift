import SatchelJSON
import SatchelStorage
import SatchelSync

/// The members of a set: `{"members": […]}`, in the order of their JSON texts, with the keys of objects
/// sorted.
struct StateSyncSet: StateSyncContent {
  /// JSON, by the member's identity in hexadecimal digits.
  var members: [StateName: [UInt8]] = [:]
  var bounds: StateBounds?
  var isSensitive = false
  static let kind = Change.StateKey.Kind.set
  var content: StateContent { .set(members) }

  init() {}

  init?(_ content: StateContent) {
    guard case .set(let members) = content else { return nil }
    self.members = members
  }

  func member(at location: String) throws -> JSONValue {
    let texts = try members.values.map { bytes in
      let value = try StateStore.value(of: bytes, at: location)
      return try naming(location) { try ValueIdentity.text(of: value) }
    }
    let sorted = texts.sorted { $0.lexicographicallyPrecedes($1) }
    return .array(try sorted.map { try StateStore.value(of: $0, at: location) })
  }

  func hasSameElements(as other: Self) -> Bool {
    members.count == other.members.count && members.keys.allSatisfy { other.members[$0] != nil }
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
