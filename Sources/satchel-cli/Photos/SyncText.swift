import Satchel

/// What a sync did, for people.
struct SyncText {
  let text: String

  init(_ report: SyncReport) {
    var lines: [String] = []
    func add(_ words: String, _ shards: [Shard.Index]) {
      guard !shards.isEmpty else { return }
      lines.append("\(words): \(Self.shards(shards))")
    }
    add(report.isDryRun ? "would download" : "downloaded", report.downloaded)
    add(report.isDryRun ? "would upload" : "uploaded", report.uploaded)
    add("changed on both sides", report.conflicts)
    add(report.isDryRun ? "would repair" : "repaired", report.repaired)
    for rejected in report.rejected {
      let row = rejected.row
      // Its bytes are nowhere else any more.
      let raw =
        row.fault == .replaced || row.fault == .discarded
        ? ": " + String(decoding: row.raw, as: UTF8.self).printable : ""
      lines.append("shard \(rejected.shard), line \(row.line): \(row.reason)\(raw)")
    }
    for failure in report.failed {
      lines.append("failed: shard \(failure.shard): \(failure.error.message.printable)")
    }
    if report.removed > 0 { lines.append("\(Terminal.count(Int(report.removed), "photo")) removed here") }
    if report.conflictRows > 0 {
      let changes = Terminal.count(report.conflictRows, "change")
      lines.append("\(changes) lost, and kept: see \"satchel photos conflicts\"")
    }
    if report.isUnchanged { lines.append("nothing to do: both sides agree") }
    let requests = Terminal.count(Int(report.requests), "request")
    lines.append(
      "\(requests), \(Terminal.bytes(report.bytesUp)) up, \(Terminal.bytes(report.bytesDown)) down")
    text = lines.joined(separator: "\n")
  }

  /// "0 4 f"
  static func shards(_ shards: [Shard.Index]) -> String {
    shards.sorted().map(\.description).joined(separator: " ")
  }
}
