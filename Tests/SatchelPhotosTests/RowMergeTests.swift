import SatchelTesting
import Testing

@testable import SatchelPhotos

/// The merge of a shard's lines, against dictionaries.
struct RowMergeTests {
  typealias Merge = RowMerge<Int, String>
  typealias Decision = RowDecision<String>

  /// A shard as dictionaries: its rows, and base rows for those that were changed.
  struct Model: Equatable {
    var rows: [Int: String] = [:]
    var base: [Int: BaseRow<String>] = [:]
    var sequence: Int64 = 0

    /// The lines that the remote had at the last sync.
    var synced: [Int: String] {
      var lines = rows
      for (key, row) in base { lines[key] = row.line }
      return lines
    }

    /// A local change; a base row that restores the line stays while an upload is pending.
    mutating func set(_ key: Int, _ line: String?, isPending: Bool) {
      if rows[key] == line { return }
      sequence += 1
      let before = base[key].map(\.line) ?? rows[key]
      rows[key] = line
      base[key] = before == line && !isPending ? nil : BaseRow(line: before, sequence: sequence)
    }

    /// Merges, and carries out what the merge decides.
    mutating func pull(_ remote: [Int: String], _ rules: RowMergeRules)
      -> (Merge.Summary, [Int: Decision.Conflict])
    {
      var (after, conflicts) = (self, [Int: Decision.Conflict]())
      let summary = Merge.each(
        remote: Self.sorted(remote), local: Self.sorted(rows),
        base: base.sorted { $0.key < $1.key }.map { (key: $0.key, row: $0.value) }, rules: rules
      ) { key, decision in
        switch decision.row {
        case .keep: break
        case .write(let line):
          #expect(after.rows[key] != line, "a row is written only when it differs")
          after.rows[key] = line
        case .delete: #expect(after.rows.removeValue(forKey: key) != nil, "a row that exists is deleted")
        }
        switch decision.base {
        case .keep: break
        case .write(let line):
          after.base[key] = BaseRow(line: line, sequence: after.base[key]?.sequence ?? after.sequence)
        case .delete: #expect(after.base.removeValue(forKey: key) != nil, "a base row that exists is deleted")
        }
        conflicts[key] = decision.conflict
      }
      self = after
      return (summary, conflicts)
    }

    private static func sorted(_ lines: [Int: String]) -> [(key: Int, line: String)] {
      lines.sorted { $0.key < $1.key }.map { (key: $0.key, line: $0.value) }
    }
  }

  static let lines: [String?] = [nil, "a", "b", "c"]

  /// The expected local line, and whether the local one goes to the conflict log, stated by cases of the outcome.
  static func expected(remote: String?, local: String?, changed: BaseRow<String>?, _ rules: RowMergeRules)
    -> (line: String?, isConflict: Bool)
  {
    if rules.policy == .firstMeeting {
      return (remote ?? local, remote != nil && remote != local && (local != nil || changed != nil))
    }
    let isReverted = changed.map { $0.line == local } ?? true
    let isConfirmed = changed.map { $0.sequence <= (rules.confirmedUpTo ?? -1) } ?? false
    if isConfirmed || (isReverted && (changed == nil || rules.confirmedUpTo == nil)) {
      let isLogged = isConfirmed ? false : changed != nil || rules.logsLostRows && local != nil
      return (remote, isLogged && local != remote)
    }
    if remote == local || remote == changed?.line || rules.policy == .merge { return (local, false) }
    return (remote, true)
  }

  @Test("each case of one photo, by each policy", arguments: RowMergeRules.Policy.allCases)
  func allCases(_ policy: RowMergeRules.Policy) {
    for remote in Self.lines {
      for local in Self.lines {
        let bases: [BaseRow<String>?] =
          [nil] + Self.lines.flatMap { line in [1, 3].map { BaseRow(line: line, sequence: $0) } }
        for changed in bases {
          for confirmed: Int64? in [nil, 0, 2, 3] {
            for logs in [false, true] {
              let rules = RowMergeRules(policy: policy, confirmedUpTo: confirmed, logsLostRows: logs)
              check(remote: remote, local: local, changed: changed, rules)
            }
          }
        }
      }
    }
  }

  private func check(remote: String?, local: String?, changed: BaseRow<String>?, _ rules: RowMergeRules) {
    let place: Comment =
      "remote \(remote ?? "-"), local \(local ?? "-"), \(String(describing: changed)), \(rules)"
    var model = Model()
    model.rows[0] = local
    model.base[0] = changed
    model.sequence = 3
    let theirs = remote.map { [0: $0] } ?? [:]
    let (summary, conflicts) = model.pull(theirs, rules)
    let (line, isConflict) = Self.expected(remote: remote, local: local, changed: changed, rules)
    #expect(model.rows[0] == line, place)
    #expect((conflicts[0] != nil) == isConflict, place)
    if let conflict = conflicts[0] { #expect(conflict.local == local && conflict.remote == remote, place) }
    #expect(model.synced == theirs, "what was last synced is the remote's: \(place)")
    #expect(summary.photos == Int64(model.rows.count), place)
    #expect(summary.changes == Int64(model.base.count), place)
    #expect(summary.removed == (local != nil && line == nil ? 1 : 0), place)
    #expect(summary.conflicts == Int64(conflicts.count), place)
  }

  @Test(
    "random shards end as a brute-force merge does, and a second pull changes nothing", arguments: 0..<200)
  func randomShards(_ seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var model = Model()
    for key in 0..<40 where random.chance(60) { model.rows[key] = "a" }
    for _ in 0..<random.below(30) {
      model.set(random.below(40), random.pick(Self.lines), isPending: random.chance(20))
    }
    var remote = model.synced
    for _ in 0..<random.below(30) { remote[random.below(40)] = random.pick(Self.lines) }
    let rules = RowMergeRules(
      policy: random.pick(RowMergeRules.Policy.allCases),
      confirmedUpTo: random.chance(50) ? Int64(random.below(30)) : nil, logsLostRows: random.chance(20))
    let before = model
    let (summary, conflicts) = model.pull(remote, rules)
    for key in 0..<40 {
      let (line, isConflict) = Self.expected(
        remote: remote[key], local: before.rows[key], changed: before.base[key], rules)
      #expect(model.rows[key] == line, "photo \(key)")
      #expect((conflicts[key] != nil) == isConflict, "photo \(key)")
    }
    #expect(model.synced == remote)
    #expect(summary.removed == Int64(before.rows.keys.count { model.rows[$0] == nil }))
    let merged = model
    let again = model.pull(remote, RowMergeRules(policy: .merge, confirmedUpTo: nil))
    #expect(model.rows == merged.rows && again.1.isEmpty)
  }

  @Test("a confirmed upload keeps every later change, and nothing else", arguments: 0..<100)
  func confirmedUploads(_ seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var model = Model()
    for key in 0..<20 where random.chance(60) { model.rows[key] = "a" }
    for _ in 0..<random.below(20) { model.set(random.below(20), random.pick(Self.lines), isPending: false) }
    let (uploaded, sequence) = (model.rows, model.sequence)
    for _ in 0..<random.below(20) { model.set(random.below(20), random.pick(Self.lines), isPending: true) }
    let local = model.rows
    let (_, conflicts) = model.pull(uploaded, RowMergeRules(policy: .merge, confirmedUpTo: sequence))
    #expect(model.rows == local && conflicts.isEmpty)
    #expect(model.synced == uploaded)
    #expect(Set(model.base.keys) == Set((0..<20).filter { local[$0] != uploaded[$0] }))
  }

  @Test("two devices end with the same rows, and no change is lost without an entry", arguments: 0..<100)
  func twoDevices(_ seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var remote: [Int: String] = [:]
    var devices = [Model(), Model()]
    let policy: RowMergeRules.Policy = random.chance(50) ? .merge : .remoteWins
    for round in 0..<12 {
      let index = random.below(2)
      for _ in 0..<random.below(5) {
        devices[index].set(random.below(10), random.pick(Self.lines), isPending: false)
      }
      let before = devices[index]
      let (_, conflicts) = devices[index].pull(remote, RowMergeRules(policy: policy, confirmedUpTo: nil))
      for key in before.base.keys where devices[index].rows[key] != before.rows[key] {
        #expect(conflicts[key]?.local == before.rows[key] && conflicts[key] != nil, "round \(round)")
      }
      remote = devices[index].rows
      devices[index].base = [:]
    }
    for index in devices.indices {
      _ = devices[index].pull(remote, RowMergeRules(policy: policy, confirmedUpTo: nil))
      remote = devices[index].rows
      devices[index].base = [:]
    }
    for index in devices.indices {
      _ = devices[index].pull(remote, RowMergeRules(policy: policy, confirmedUpTo: nil))
      #expect(devices[index].rows == remote)
    }
  }
}
