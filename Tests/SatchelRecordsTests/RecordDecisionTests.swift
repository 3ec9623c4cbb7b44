import SatchelJSON
import SatchelSync
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("Decisions about records that the remote has changed")
struct RecordDecisionTests {
  /// A side, as it differs from the last synced version.
  enum Side { case absent, edited, deleted }

  private static func content(_ document: String?, _ modified: Int64) -> SyncContent {
    SyncContent(document: document.map { Array($0.utf8) }, revision: 1, created: 1, modified: modified)
  }

  private static func version(_ document: String?, _ modified: Int64) -> RecordVersion {
    RecordVersion(content(document, modified))
  }

  private static let base = #"{"a":1,"b":1}"#
  private static let ours = #"{"a":2,"b":1}"#
  private static let theirs = #"{"a":1,"b":2}"#

  /// The local edit is the older one.
  private func decide(
    _ local: Side, _ remote: Side, hasBase: Bool, _ policy: ConflictPolicy
  ) throws -> RecordDecision {
    let here: RecordVersion? =
      switch local {
      case .absent: nil
      case .edited: Self.version(Self.ours, 2)
      case .deleted: Self.version(nil, 2)
      }
    return try RecordDecision.decide(
      local: here, isChanged: local != .absent, base: hasBase ? Self.version(Self.base, 1) : nil,
      remote: remote == .edited ? Self.version(Self.theirs, 3) : Self.version(nil, 3), policy: policy)
  }

  @Test("a remote change alone is applied by every policy", arguments: ConflictPolicy.allCases)
  func oneSide(_ policy: ConflictPolicy) throws {
    for hasBase in [true, false] {
      #expect(try decide(.absent, .edited, hasBase: hasBase, policy) == .apply(isLost: false))
      #expect(try decide(.absent, .deleted, hasBase: hasBase, policy) == .match)
      #expect(try decide(.deleted, .deleted, hasBase: hasBase, policy) == .match)
    }
    let unchanged = try RecordDecision.decide(
      local: Self.version(Self.base, 1), isChanged: false, base: Self.version(Self.base, 1),
      remote: Self.version(Self.theirs, 3), policy: policy)
    #expect(unchanged == .apply(isLost: false))
  }

  /// The remote edits and deletions are newer.
  @Test("changes on both sides are decided by the policy", arguments: [true, false])
  func bothSides(_ hasBase: Bool) throws {
    let lost = RecordDecision.apply(isLost: true)
    let merged = RecordDecision.merge(Self.content(#"{"a":2,"b":2}"#, 3), lost: nil)
    let keep = RecordDecision.keep(isLost: true)
    let table: [(Side, Side, ConflictPolicy, RecordDecision)] = [
      (.edited, .edited, .newestWins, lost), (.edited, .edited, .remoteWins, lost),
      (.edited, .edited, .localWins, keep), (.edited, .edited, .ask, .ask),
      // Without a base both have changed all fields, so that the newer one is all that there is.
      (.edited, .edited, .merge, hasBase ? merged : lost),
      (.edited, .deleted, .newestWins, lost), (.edited, .deleted, .remoteWins, lost),
      (.edited, .deleted, .localWins, keep), (.edited, .deleted, .merge, keep),
      (.edited, .deleted, .ask, .ask),
      (.deleted, .edited, .newestWins, lost), (.deleted, .edited, .remoteWins, lost),
      (.deleted, .edited, .localWins, keep), (.deleted, .edited, .merge, lost),
      (.deleted, .edited, .ask, .ask),
    ]
    for (local, remote, policy, expected) in table {
      #expect(
        try decide(local, remote, hasBase: hasBase, policy) == expected,
        "\(local) here, \(remote) there, \(policy)")
    }
  }

  @Test("an edit that was reverted is not a change", arguments: ConflictPolicy.allCases)
  func undone(_ policy: ConflictPolicy) throws {
    let (base, undone) = (Self.version(Self.base, 1), Self.version(Self.base, 9))
    let other = Self.version(Self.theirs, 2)
    func decide(_ local: RecordVersion, _ remote: RecordVersion) throws -> RecordDecision {
      try RecordDecision.decide(local: local, isChanged: true, base: base, remote: remote, policy: policy)
    }
    #expect(try decide(undone, other) == .apply(isLost: false))
    #expect(try decide(other, undone) == .keep(isLost: false))
  }

  @Test("a merge keeps the newer side's value of a member that both have changed")
  func overridden() throws {
    func lost(_ mine: String, _ theirs: String, isOlder: Bool) throws -> ConflictSide? {
      let decision = try RecordDecision.decide(
        local: Self.version(mine, isOlder ? 2 : 4), isChanged: true, base: Self.version(Self.base, 1),
        remote: Self.version(theirs, 3), policy: .merge)
      switch decision {
      case .merge(_, let lost): return lost
      case .keep(let isLost): return isLost ? .remote : nil
      case .apply(let isLost): return isLost ? .local : nil
      case .match, .ask: return nil
      }
    }
    for (theirs, isMixed) in [(#"{"a":3,"b":2}"#, true), (#"{"a":3,"b":1}"#, false)] {
      #expect(try lost(Self.ours, theirs, isOlder: true) == .local, "\(isMixed)")
      #expect(try lost(Self.ours, theirs, isOlder: false) == .remote, "\(isMixed)")
    }
    #expect(try lost(Self.ours, Self.theirs, isOlder: true) == nil)
    #expect(try lost(Self.ours, #"{"a":2,"b":2}"#, isOlder: false) == nil)
  }

  @Test("two encodings of one value are not a conflict", arguments: ConflictPolicy.allCases)
  func spelling(_ policy: ConflictPolicy) throws {
    let decision = try RecordDecision.decide(
      local: Self.version(#"{"a":2,"b":1}"#, 2), isChanged: true, base: Self.version(Self.base, 1),
      remote: Self.version(#"{"b":1,"a":2}"#, 3), policy: policy)
    #expect(decision == .apply(isLost: false))
  }

  @Test("all devices decide alike, in any order", arguments: [ConflictPolicy.newestWins, .merge])
  func order(_ policy: ConflictPolicy) throws {
    let documents: [String?] = [nil, Self.base, Self.ours, Self.theirs, #"{"a":3}"#, #"{"a":{"x":1},"b":1}"#]
    func outcome(_ mine: RecordVersion, _ theirs: RecordVersion, _ base: RecordVersion?) throws -> JSONObject?
    {
      switch try RecordDecision.decide(
        local: mine, isChanged: true, base: base, remote: theirs, policy: policy)
      {
      case .match, .apply: return try theirs.value
      case .keep: return try mine.value
      case .merge(let content, _): return try RecordVersion(content).value
      case .ask:
        Issue.record("nobody asked")
        return nil
      }
    }
    for one in documents {
      for two in documents {
        for times in [(2, 3), (3, 3)] as [(Int64, Int64)] {
          for base in [nil, Self.version(Self.base, 1)] {
            let (one, two) = (Self.version(one, times.0), Self.version(two, times.1))
            #expect(try outcome(one, two, base) == outcome(two, one, base))
          }
        }
      }
    }
  }
}
