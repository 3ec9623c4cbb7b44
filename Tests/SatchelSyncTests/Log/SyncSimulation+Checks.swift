import SatchelCore
import SatchelStorage

import SatchelRemote
@testable import SatchelSync

/// The invariants of every schedule:
///
/// - S1 chain: a head replaces the one that it was made from
/// - S2 reachable: what a head names exists, with its SHA-256
/// - S3 fold: the digest is that of the entries; only tombstones up to the horizon disappear, and nothing returns
/// - S4 seen: an entry was built on the one that it replaces, and is sent once
/// - S5 shadow: at a position a device has exactly the entries of the head
/// - S6 nothing is lost: every edit is in the remote, or in the conflicts of a device; and none meets itself
/// - S7 rest: in the end all have the same, and a sync is one request
/// - S8 garbage: in the end only what the head names is left
/// - S9 forks: in a store that loses nothing there are none
/// - S11 horizon: no device that was away for less than the retention is below it, and dropped tombstones leave nothing
/// - S10 keys: without the key of the log a device changes nothing, here and there (`SyncSimulation+Keys.swift`)
/// - S12 end: a sync ends
extension SyncSimulation {
  typealias Fold = [SyncKey: SyncEntry]

  /// The entries of a head.
  private func fold(_ head: SyncHead, _ objects: [String: SyncSimulationRemote.Object]) throws -> Fold {
    var found: Fold = [:]
    let seal = head.seal(keys.logKey(of: head), SyncTestDevice.user)
    for pack in head.packs {
      guard let object = objects[remote.packKey(pack.name)] else {
        throw SyncViolation("S2: head \(head.position.number) names a pack that does not exist")
      }
      for entry in try pack.parse(object.body, seal)
      where found[entry.envelope.key]?.sequence ?? -1 < entry.sequence {
        found[entry.envelope.key] = entry
      }
    }
    for entry in try head.entries(seal) where found[entry.envelope.key]?.sequence ?? -1 < entry.sequence {
      found[entry.envelope.key] = entry
    }
    return found.filter { !$0.value.envelope.content.isDeleted || $0.value.sequence > head.horizon }
  }

  // MARK: Heads

  func checkHead(
    _ new: SyncSimulationRemote.Object, _ old: SyncSimulationRemote.Object?, expected: String?,
    isRekey: Bool, _ device: Int
  ) {
    do {
      try check(new, old, remote.objects, expected: expected, isRekey: isRekey, device)
    } catch let error as SyncViolation {
      fail(error)
    } catch {
      fail(SyncViolation("S2: \(error)"))
    }
  }

  private func check(
    _ new: SyncSimulationRemote.Object, _ old: SyncSimulationRemote.Object?,
    _ objects: [String: SyncSimulationRemote.Object], expected: String?, isRekey: Bool, _ device: Int
  ) throws {
    let head = try SyncHead(parsing: new.body)
    let number = head.position.number
    if old?.etag != expected {
      throw SyncViolation("S1: head \(number) of device \(device) was not made from the one before")
    }
    if hasLost { return }
    let after = try fold(head, objects)
    let replaced = try old.map { try SyncHead(parsing: $0.body) }
    try checkKey(head, replaced, isRekey: isRekey, device)
    let before = try replaced.map { try fold($0, objects) } ?? [:]
    try checkHorizon(head, replaced, before, after, device)
    var digest = SyncDigest(key: keys.logKey(of: head)?.digest)
    for entry in after.values { digest.add(entry.envelope.key, entry.envelope.bytes) }
    let bytes = after.values.reduce(0) { $0 + Int64($1.envelope.bytes.count) }
    guard digest == head.digest, Int64(after.count) == head.count, bytes == head.bytes else {
      throw SyncViolation("S3: the digest of head \(number) is not that of its entries")
    }
    for (key, entry) in before {
      guard let next = after[key] else {
        guard entry.envelope.content.isDeleted, entry.sequence <= head.horizon else {
          throw SyncViolation("S3: \(key) has disappeared with head \(number)")
        }
        let seen = ghosts[entry.envelope.content.revision]
        dropped[key, default: []].formUnion(seen)
        fine.formUnion(seen)
        continue
      }
      if next.envelope == entry.envelope { continue }
      guard next.sequence > entry.sequence else {
        throw SyncViolation("S3: \(key) goes back with head \(number)")
      }
      let (seen, all) = (ghosts[entry.envelope.content.revision], ghosts[next.envelope.content.revision])
      guard seen.isSubset(of: all), next.envelope.isBuilt(on: entry.envelope) else {
        throw SyncViolation("S4: device \(device) replaces a \(key) that it has not seen")
      }
      guard seen != all || hasRestored else { throw SyncViolation("S4: device \(device) sends \(key) twice") }
    }
  }

  /// With a right clock among the two of each device, no head is older than it seems; and what was deleted does not
  /// return.
  private func checkHorizon(
    _ head: SyncHead, _ old: SyncHead?, _ before: Fold, _ after: Fold, _ device: Int
  ) throws {
    let (log, number) = (head.position.log, head.position.number)
    let known = old?.position.log == log ? old?.horizon ?? 0 : head.horizon
    guard head.horizon >= known, head.horizon < number else {
      throw SyncViolation("S11: the horizon goes from \(known) to \(head.horizon) with head \(number)")
    }
    written[log, default: [:]][number] = now
    let isRight = hasDate || devices.allSatisfy { $0.skew == 0 }
    if isRight, head.horizon > known, let time = written[log]?[head.horizon], now - time < retention {
      throw SyncViolation("S11: the horizon passes a head that is \(now - time) old")
    }
    for (key, entry) in after where before[key] == nil {
      let seen = ghosts[entry.envelope.content.revision]
      if !hasRestored, let gone = dropped[key], seen.isSubset(of: gone), seen.isDisjoint(with: unsure) {
        throw SyncViolation("S3: device \(device) brings back a \(key) whose tombstone was dropped")
      }
    }
  }

  func checkShadow(_ device: SyncSimulationDevice, _ head: SyncHead) throws {
    if hasLost { return }
    let key = keys.logKey(of: head)?.entries
    let entries = try device.database.read { connection in
      var found: [SyncKey: SyncEntry] = [:]
      var ids: [Int64] = []
      try connection.each(
        "SELECT id FROM sync_entry WHERE generation = (SELECT generation FROM sync_log) AND seq IS NOT NULL"
      ) { ids.append($0.anyInteger(0)) }
      for id in ids {
        guard
          let row = try SyncRowTable(
            connection: connection, key: key, documents: device.client.document
          ).row(id),
          let bytes = row.entry
        else {
          continue
        }
        found[row.key] = SyncEntry(sequence: row.sequence ?? 0, envelope: try row.envelope(bytes))
      }
      return found
    }
    var digest = SyncDigest(key: keys.logKey(of: head)?.digest)
    for (key, entry) in entries { digest.add(key, entry.envelope.bytes) }
    guard digest == head.digest, Int64(entries.count) == head.count else {
      return fail(
        SyncViolation("S5: device \(device.number) has other entries than head \(head.position.number)"))
    }
    guard let current = remote.objects[remote.headKey], let now = try? SyncHead(parsing: current.body),
      now.id == head.id
    else { return }
    if let fold = try? fold(head, remote.objects), fold != entries {
      fail(SyncViolation("S5: device \(device.number) has other numbers than head \(head.position.number)"))
    }
  }

  // MARK: Decisions

  func checkDecision(_ device: SyncSimulationDevice, _ entry: SyncUndecided, _ local: SyncTestDocument) {
    fine.formUnion(device.client.fine)
    if hasLost { return }
    if entry.remote == nil, dropped[entry.key] == nil {
      fail(
        SyncViolation(
          "S6: device \(device.number) takes \(entry.key) for deleted without a dropped tombstone"))
    }
    if entry.isFork, mutant != .oldname {
      fail(SyncViolation("S9: device \(device.number) meets a fork of \(entry.key)"))
    }
    guard let remote = entry.remote, entry.isChanged else { return }
    let seen = entry.base.map { ghosts[$0.content.revision] } ?? []
    let own = ghosts[remote.content.revision].subtracting(seen).filter { $0.hasPrefix("\(device.number).") }
    let name = try? device.database.read { try SyncLogTables.writer($0) }
    let isEqual = (try? SyncTestDocument.fields(remote.content.document)) == local.fields
    if !own.isEmpty, remote.writer == name, !isEqual {
      fail(SyncViolation("S6: device \(device.number) meets its own change of \(entry.key) as a conflict"))
    }
  }

  func checkError(_ error: any Error) {
    let code = (error as? SatchelError)?.code ?? (error as? ObjectStoreError)?.satchelError.code
    switch code {
    case .busy, .unavailable: break
    case .damaged where hasLost || rate > 0: break
    case .unauthorized where hasRekeyed: break
    default: fail(SyncViolation("a sync fails: \(error)"))
    }
  }

  // MARK: The end

  func checkEnd() throws {
    var state: Fold = [:]
    if let head = remote.objects[remote.headKey] {
      state = try fold(SyncHead(parsing: head.body), remote.objects)
    }
    var wanted: [String: [String: String]] = [:]
    for (key, entry) in state {
      if let fields = try SyncTestDocument.fields(entry.envelope.content.document) {
        wanted["\(key)"] = fields
      }
    }
    var known = state.values.reduce(into: Set<String>()) {
      $0.formUnion(ghosts[$1.envelope.content.revision])
    }
    known.formUnion(fine)
    if hasLost { known.formUnion(deleted) }
    for device in devices {
      guard try device.client.documents() == wanted else {
        throw SyncViolation(
          "S7: device \(device.number) has \(try device.client.documents()), and the remote \(wanted)")
      }
      let left = try device.database.read {
        try $0.number(
          """
          SELECT count(*) FROM sync_entry WHERE pending IS NOT NULL OR undecided IS NOT NULL OR remote IS NOT NULL
          OR in_flight_sequence IS NOT NULL OR seq IS NULL OR generation < (SELECT generation FROM sync_log)
          """)
      }
      guard left == 0 else {
        throw SyncViolation("S7: device \(device.number) has \(left) entries left to do")
      }
      known.formUnion(try device.client.lost())
      known.formUnion(device.client.fine)
    }
    for (edit, location) in edits where !known.contains(edit) {
      throw SyncViolation("S6: the edit \(edit) of \(location) is lost")
    }
    try checkGarbage()
  }

  private func checkGarbage() throws {
    for _ in 0..<2 { _ = try devices[0].complete(self, sweeps: true, acceptsLoss: true) }
    guard let object = remote.objects[remote.headKey] else { return }
    let head = try SyncHead(parsing: object.body)
    _ = try fold(head, remote.objects)
    let named = Set((head.packs.map(\.name) + head.retired).map { remote.packKey($0) })
    let rest = Set(remote.objects.keys).subtracting(named).subtracting([remote.headKey])
    guard rest.isEmpty else { throw SyncViolation("S8: garbage is left: \(rest)") }
  }
}
