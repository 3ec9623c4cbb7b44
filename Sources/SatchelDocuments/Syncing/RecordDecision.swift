import SatchelCore
import SatchelJSON
import SatchelSync

/// The decision about a record whose remote version differs from its base.
enum RecordDecision: Sendable, Equatable {
  /// Both sides are equal.
  case match
  /// The record becomes the remote version; whether a local version is lost.
  case apply(isLost: Bool)
  /// The record stays, and replaces the remote version; whether that version is lost.
  case keep(isLost: Bool)
  /// The record becomes a merge of both, which is sent; the side that lost a field that both had changed.
  case merge(SyncContent, lost: ConflictSide?)
  /// The host decides.
  case ask
}

extension RecordDecision {
  /// Decides; the outcome is the same for all devices that see the same versions.
  ///
  /// - Parameters:
  ///   - local: nil when there never was a record
  ///   - isChanged: whether the record has a change that is not sent
  ///   - base: the last synced version; nil when there is none
  /// - Throws: `JSONError` for a document that is not JSON
  static func decide(
    local: RecordVersion?, isChanged: Bool, base: RecordVersion?, remote: RecordVersion,
    policy: ConflictPolicy
  ) throws -> RecordDecision {
    guard let local else { return remote.content.isDeleted ? .match : .apply(isLost: false) }
    if local.content.document == remote.content.document { return .match }
    if try !isChanged || local.hasSameValue(as: remote) { return .apply(isLost: false) }
    if let base {
      // A change that was reverted is not a change.
      if local.content.document == base.content.document { return .apply(isLost: false) }
      if remote.content.document == base.content.document { return .keep(isLost: false) }
    }
    switch policy {
    case .newestWins: return local.isNewer(than: remote) ? .keep(isLost: true) : .apply(isLost: true)
    case .remoteWins: return .apply(isLost: true)
    case .localWins: return .keep(isLost: true)
    case .ask: return .ask
    case .merge: return try merge(local, base, remote: remote)
    }
  }

  private static func merge(
    _ local: RecordVersion, _ base: RecordVersion?, remote: RecordVersion
  ) throws -> RecordDecision {
    guard let ours = try local.value else { return .apply(isLost: true) }
    guard let theirs = try remote.value else { return .keep(isLost: true) }
    let isOurs = local.isNewer(than: remote)
    let merge = RecordMerge(
      base: try base?.value ?? JSONObject(), older: isOurs ? theirs : ours, newer: isOurs ? ours : theirs)
    let lost = merge.isOverridden ? isOurs ? ConflictSide.remote : .local : nil
    if merge.value == theirs { return .apply(isLost: lost == .local) }
    if merge.value == ours { return .keep(isLost: lost == .remote) }
    guard let document = try? JSONValue.object(merge.value).serialized() else {
      // Both sides are within the maximum depth, and merging does not increase it.
      return isOurs ? .keep(isLost: true) : .apply(isLost: true)
    }
    let content = SyncContent(
      document: document, revision: max(local.content.revision, remote.content.revision),
      created: min(local.content.created, remote.content.created),
      modified: max(local.content.modified, remote.content.modified))
    return .merge(content, lost: lost)
  }
}

/// One side of a record: the input of a decision. It is the same for both sides, so that all devices decide
/// alike.
struct RecordVersion: Sendable, Equatable {
  var content: SyncContent

  init(_ content: SyncContent) { self.content = content }

  /// Nil when it was deleted.
  ///
  /// - Throws: `JSONError` for a document that is not JSON
  var value: JSONObject? {
    get throws { try content.document.flatMap { try JSONValue(parsing: $0).objectValue } }
  }

  /// Whether it was changed later; of two changes of the same time, whether its bytes are greater.
  func isNewer(than other: RecordVersion) -> Bool {
    if content.modified != other.content.modified { return content.modified > other.content.modified }
    return (other.content.document ?? []).lexicographicallyPrecedes(content.document ?? [])
  }

  /// Whether both have the same value, however it is written.
  func hasSameValue(as other: RecordVersion) throws -> Bool { try value == other.value }
}

/// A three-way merge of two versions of a document, field by field. A value: the outcome is the same on every
/// device, and does not depend on which side is local.
///
/// Objects are merged recursively, other values as a whole. A field that one side changed has the value of
/// that side; a field that both changed has the value of the newer side.
struct RecordMerge: Sendable, Equatable {
  let value: JSONObject
  /// Whether a change of the older side was overridden.
  private(set) var isOverridden = false

  /// - Parameter base: the common version; empty when unknown
  init(base: JSONObject, older: JSONObject, newer: JSONObject) {
    var isOverridden = false
    value = RecordMerge.merge(base, older, newer: newer, isOverridden: &isOverridden)
    self.isOverridden = isOverridden
  }

  private static func merge(
    _ base: JSONObject, _ older: JSONObject, newer: JSONObject, isOverridden: inout Bool
  ) -> JSONObject {
    var merged = JSONObject()
    // The members in the order of the newer side, followed by those that only the other side has.
    for (key, value) in newer {
      merged[key] = field(base[key], older[key], newer: value, isOverridden: &isOverridden)
    }
    for (key, value) in older where newer[key] == nil {
      merged[key] = field(base[key], value, newer: nil, isOverridden: &isOverridden)
    }
    return merged
  }

  /// Returns the merged value of a field; nil to remove it.
  private static func field(
    _ base: JSONValue?, _ older: JSONValue?, newer: JSONValue?, isOverridden: inout Bool
  ) -> JSONValue? {
    if older == newer || older == base { return newer }
    if newer == base { return older }
    if case .object(let older)? = older, case .object(let newer)? = newer {
      return .object(
        merge(base?.objectValue ?? JSONObject(), older, newer: newer, isOverridden: &isOverridden))
    }
    isOverridden = true
    return newer
  }
}

/// Items that block each other. A value: the items that remain in it can be applied together.
///
/// All operations take time in proportion to the number of items and of their dependencies.
struct BlockingGraph {
  /// A dependency of an item: another item that has to be applied first, by its number in the graph.
  private var blockers: [[Int]]
  private var dependents: [[Int]]
  private(set) var isLeft: [Bool]

  init(count: Int) {
    blockers = Array(repeating: [], count: count)
    dependents = blockers
    isLeft = Array(repeating: true, count: count)
  }

  /// Adds a dependency: an item can be applied only together with another one.
  mutating func block(_ item: Int, by blocker: Int) {
    guard item != blocker else { return }
    blockers[item].append(blocker)
    dependents[blocker].append(item)
  }

  /// Removes an item that cannot be applied, and the items that depend on it.
  ///
  /// - Returns: the latter, each with the item that it is blocked by
  mutating func remove(_ item: Int) -> [(item: Int, blocker: Int)] {
    guard isLeft[item] else { return [] }
    isLeft[item] = false
    var removed: [(item: Int, blocker: Int)] = []
    var (blocker, next) = (item, 0)
    while true {
      for dependent in dependents[blocker] where isLeft[dependent] {
        isLeft[dependent] = false
        removed.append((dependent, blocker))
      }
      if next == removed.count { return removed }
      blocker = removed[next].item
      next += 1
    }
  }

  /// The items that are left, in groups that do not block each other; items and groups in order.
  var groups: [[Int]] {
    var group = Array(repeating: -1, count: isLeft.count)
    var groups: [[Int]] = []
    for first in isLeft.indices where isLeft[first] && group[first] < 0 {
      group[first] = groups.count
      var members = [first]
      var next = 0
      while next < members.count {
        let member = members[next]
        next += 1
        for other in blockers[member] + dependents[member] where isLeft[other] && group[other] < 0 {
          group[other] = groups.count
          members.append(other)
        }
      }
      groups.append(members.ordered())
    }
    return groups
  }
}
