import Satchel

/// The report of a store's sync as text.
struct SyncText {
  let text: String

  init(_ report: StoreSyncReport) {
    var lines = report.isDryRun ? Self.planned(report) : Self.done(report)
    lines += (report.photos.map { PhotoSyncText($0).lines } ?? []).map { "photos: \($0)" }
    for failure in report.failed {
      let name = Self.name(failure.collection, failure.id)
      let isNamed = failure.message.utf8.starts(with: name.utf8)
      lines.append("failed: \(isNamed ? "" : "\(name): ")\(failure.message)")
    }
    for failure in report.assets.failed {
      lines.append("failed: asset \(failure.sha256): \(failure.message)")
    }
    for loss in report.losses {
      lines.append("lost: \(Terminal.count(loss.entries, "entry", plural: "entries")) in \(loss.pack)")
    }
    lines += report.unsentPhotos.map { "photos of \($0) are not sent: see \"satchel photos sync\"" }
    if report.isUnchanged, report.unsentPhotos.isEmpty {
      lines.append("nothing to transfer: both sides are in sync")
    }
    lines.append(Terminal.traffic(requests: report.requests, report.bytesUp, report.bytesDown))
    text = lines.map(\.printable).joined(separator: "\n")
  }

  /// A line for each record and each part of the state that a sync would transfer.
  private static func planned(_ report: StoreSyncReport) -> [String] {
    let width = SyncPlanned.Action.allCases.map { verb($0).count }.max() ?? 0
    return report.planned.map { planned in
      let verb = verb(planned.action)
      let padding = String(repeating: " ", count: width - verb.count)
      return "would \(verb)\(padding)  \(name(planned.collection, planned.id))"
    }
  }

  private static func verb(_ action: SyncPlanned.Action) -> String {
    switch action {
    case .upload: "upload"
    case .download: "download"
    case .deleteRemotely: "delete remotely"
    case .deleteLocally: "delete locally"
    case .merge: "merge"
    case .conflict: "conflict"
    case .wait: "wait"
    }
  }

  private static func done(_ report: StoreSyncReport) -> [String] {
    var lines: [String] = []
    for (subject, counts) in [("records", report.records), ("state", report.state)] {
      let parts = [
        (counts.downloaded, "downloaded"), (counts.uploaded, "uploaded"),
        (counts.deletedLocally, "deleted locally"), (counts.deletedRemotely, "deleted remotely"),
        (counts.merged, "merged"),
      ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
      if !parts.isEmpty { lines.append("\(subject): \(parts.joined(separator: ", "))") }
    }
    let moved = [(report.assets.downloaded, "downloaded"), (report.assets.uploaded, "uploaded")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    if !moved.isEmpty { lines.append("assets: \(moved.joined(separator: ", "))") }
    let lost = report.records.lost
    if lost > 0 {
      lines.append("\(Terminal.count(lost, "version")) lost and kept: see \"satchel conflicts\"")
    }
    let conflicts = report.records.conflicts - lost + report.state.conflicts
    if conflicts > 0 {
      lines.append("\(Terminal.count(conflicts, "conflict")) to resolve: see \"satchel conflicts\"")
    }
    let waiting = report.records.waiting + report.state.waiting
    if waiting > 0 {
      let versions = "\(Terminal.count(waiting, "remote version")) cannot be applied yet"
      lines.append("\(versions): see \"satchel conflicts\"")
    }
    if report.repaired > 0 {
      lines.append("\(Terminal.count(report.repaired, "object")) of the remote repaired")
    }
    if report.isBatchCut {
      lines.append("a batch was sent in parts, because it is too large for one request")
    }
    return lines
  }

  /// The name of a record: "courses/algebra"; of a part of the state: "state/value/theme".
  private static func name(_ collection: String, _ id: String) -> String {
    "\(collection == SyncKey.state ? "state" : collection)/\(id)"
  }
}
