import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelRemoteTesting
import SatchelStorage

@testable import SatchelRecords

/// What must hold, whatever happens.
extension RecordSimulationWorld {
  private func versions(_ id: String) throws -> [RecordEnvelope] {
    try (remote.versions[keys.key(id)] ?? []).map { try RecordEnvelope(parsing: $0.object.body, id: id) }
  }

  // MARK: What comes to the remote

  /// A version replaces only what its writer has seen; and what is new in it is a change of its writer that has not
  /// been in the remote before. Else somebody takes back what somebody else has put there.
  func checkWrite(
    _ device: RecordSimulationDevice, _ key: ObjectKey, old: SimulatedRemote.Version?, new: [UInt8]
  ) throws {
    guard let id = keys.id(key) else {
      throw SimulationViolation(description: "\(key) is the key of no record")
    }
    let next = try RecordEnvelope(parsing: new, id: id)
    let last = try old.map { try RecordEnvelope(parsing: $0.object.body, id: id) }
    if let last, !next.isBuilt(on: last), next.bytes != last.bytes {
      throw SimulationViolation(
        description: "device \(device.number) replaces \(id) without having seen what is there")
    }
    guard let document = try SimulatedDocument.parse(next.content.document) else {
      if last?.content.isDeleted == true { return }
      guard device.deletions[id, default: 0] > 0 else {
        throw SimulationViolation(
          description: "device \(device.number) deletes \(id), which it was not told to")
      }
      device.deletions[id] = 0
      return
    }
    device.landed[id] = (remote.versions[key]?.count ?? 0) - 1
    let before = try SimulatedDocument.parse(last?.content.document)
    guard let edit = document["edit"]?.stringValue else { return }
    if before?["edit"]?.stringValue == edit { return try checkMerged(device, id, before, document) }
    // What was merged, and then met a deletion, may have another's number, and of the writer's own changes only that
    // a field is gone; but there must be one.
    let edits = device.edits[id, default: []]
    let news = device.onConflict == .merge ? edits : edits.intersection([edit])
    device.edits[id]?.subtract(device.onConflict == .merge ? device.sent[id] ?? [] : [edit])
    guard !news.isEmpty else {
      throw SimulationViolation(
        description: "device \(device.number) makes \(id) \(edit), which is no news of its own")
    }
  }

  /// The same edit with other fields is the work of a merge.
  private func checkMerged(
    _ device: RecordSimulationDevice, _ id: String, _ before: JSONObject?, _ after: JSONObject
  ) throws {
    guard before == after || device.onConflict == .merge else {
      throw SimulationViolation(description: "device \(device.number) mixes versions of \(id)")
    }
  }

  /// No device looks into bytes that nobody wrote, and none loses against itself.
  func checkTaken(
    _ device: RecordSimulationDevice, _ id: String, _ envelope: [UInt8], isLost: Bool
  ) throws {
    var problem: String?
    if remote.versions[try keys.key(id)]?.contains(where: { $0.object.body == envelope }) != true {
      problem = "\(id) is taken from bytes that were never written"
    } else if isLost, try RecordEnvelope(parsing: envelope, id: id).writer == device.writer {
      problem = "device \(device.number) loses \(id) against itself"
    }
    guard let problem else { return }
    stage.fail(SimulationViolation(description: problem))
    throw SatchelError(.internal, "a violation")
  }

  // MARK: What a device has changed

  func claim(
    _ device: RecordSimulationDevice, _ id: String, _ document: JSONObject, fields: [String]
  ) throws {
    var claims = device.claims[id, default: []].filter { $0.field.map { !fields.contains($0) } ?? false }
    for field in fields {
      claims.append(try claim(device, id, field: field, value: document[field]?.stringValue))
    }
    device.claims[id] = claims
    if let edit = document["edit"]?.stringValue { device.edits[id, default: []].insert(edit) }
  }

  func claimDeletion(_ device: RecordSimulationDevice, _ id: String) throws {
    device.deletions[id, default: 0] += 1
    device.claims[id] = [try claim(device, id, field: nil, value: nil)]
  }

  private func claim(
    _ device: RecordSimulationDevice, _ id: String, field: String?, value: String?
  ) throws -> RecordSimulationDevice.Claim {
    let base = try device.records.state(of: id).base
    let number = remote.versions[try keys.key(id)]?.lastIndex { $0.object.body == base }
    return RecordSimulationDevice.Claim(
      field: field, value: value, base: number ?? -1,
      conflict: try device.records.conflicts().filter { !$0.isOpen }.map(\.id).max() ?? 0)
  }

  /// What a device has changed is still there, or came to the remote, or stands in the list of conflicts.
  func check(_ device: RecordSimulationDevice) throws { try checkClaims(device, isFinal: false) }

  private func checkClaims(_ device: RecordSimulationDevice, isFinal: Bool) throws {
    for id in records {
      device.claims[id] = try device.claims[id, default: []].filter { claim in
        let document = try SimulatedDocument.parse(device.records.document(id))
        if !isFinal, isVisible(claim, document) { return true }
        if try isSettled(claim, device, id) { return false }
        throw SimulationViolation(
          description: "device \(device.number) has lost its change of \(id): "
            + "\(claim.field.map { "\($0) = \(claim.value ?? "")" } ?? "deleted")")
      }
    }
  }

  private func isVisible(_ claim: RecordSimulationDevice.Claim, _ document: JSONObject?) -> Bool {
    guard let field = claim.field else { return document == nil }
    return document?[field]?.stringValue == claim.value
  }

  private func isSettled(
    _ claim: RecordSimulationDevice.Claim, _ device: RecordSimulationDevice, _ id: String
  ) throws -> Bool {
    // Texts are never used twice. Who deletes what the remote never had, or not any more, has nothing to tell.
    let first = claim.field == nil ? max(claim.base, device.landed[id] ?? 0, 0) : 0
    let since = try versions(id).dropFirst(first)
    if claim.field == nil, claim.base < 0, device.landed[id] == nil { return true }
    if try since.contains(where: { isVisible(claim, try SimulatedDocument.parse($0.content.document)) }) {
      return true
    }
    return try device.records.conflicts().contains { line in
      guard line.record == id, !line.isOpen, line.id > claim.conflict else { return false }
      return isVisible(claim, try SimulatedDocument.parse(line.local))
    }
  }

  // MARK: The end

  func check(_ report: RecordSyncReport, of device: RecordSimulationDevice, isCalm: Bool) throws {
    if let failure = report.failed.first {
      throw SimulationViolation(description: "a sync without faults failed: \(failure)")
    }
    let pages = max(1, (remote.versions.count + 1) / 2)
    if isCalm, !report.isUnchanged || report.requests != pages {
      throw SimulationViolation(
        description: "device \(device.number) agrees, and yet: \(try report.json.text)")
    }
  }

  /// All devices and the remote have the same, and nothing is left to do.
  func checkConvergence() throws {
    for id in records {
      let last = try versions(id).last?.content.document
      for device in devices {
        guard try device.records.document(id) == last else {
          throw SimulationViolation(
            description: "in the end device \(device.number) has another \(id) than the remote")
        }
        let state = try device.records.state(of: id)
        guard state.pending == nil, state.sending == nil, state.conflict == nil else {
          throw SimulationViolation(
            description: "in the end device \(device.number) has something left to do about \(id)")
        }
      }
    }
    for device in devices { try checkClaims(device, isFinal: true) }
  }
}
