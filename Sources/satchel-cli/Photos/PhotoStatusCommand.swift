import ArgumentParser
import Satchel

/// `satchel photos status`: shows the contents and the sync state of a catalogue.
struct PhotoStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the number of photos and the changes to upload.",
    discussion: """
      Shows for each shard the number of photos and whether it has changes to upload; then the totals, the \
      last sync, backups, conflicts, and the number of kept lines that are not photos.

        satchel photos status guide.satchel ~/Pictures

      Exit codes: 0 shown; 2 could not run, or the store has no catalogue of the directory.
      """)

  @OptionGroup var arguments: PhotoArguments

  func run() throws {
    let status = try arguments.withCatalogue { try $0.status() }
    let output = try Output()
    if arguments.json {
      try output.put(status.json.plainText + "\n")
    } else {
      try output.put(Self.text(status) + "\n")
    }
    try output.finish()
  }

  private static func text(_ status: PhotoStatus) -> String {
    let pending = status.pendingShards.count
    var rows = [["shard", "photos", "pending", "last sync"]]
    for shard in status.shards {
      rows.append([
        "\(shard.shard)", "\(shard.photos)", shard.isPending ? "upload" : "-",
        shard.lastSync.map { Terminal.time($0) } ?? "never",
      ])
    }
    let all = pending == 0 ? "-" : Terminal.count(pending, "shard")
    rows.append(["all", "\(status.photos)", all, status.lastSync.map { Terminal.time($0) } ?? "never"])
    let facts = [
      ["directory", status.directory.printable], ["uuid", status.uuid ?? ""],
      ["user", status.user ?? "none"],
      ["on conflict", status.onConflict == .merge ? "merge" : "remote-wins"],
      ["last sync", status.lastSync.map { Terminal.time($0) } ?? "never"],
      ["backup", backup(status)], ["conflicts", "\(status.conflicts)"],
      ["kept lines that are not photos", "\(status.keptLines)"],
    ]
    return Terminal.numericTable(rows) + "\n\n" + Terminal.table(facts)
  }

  private static func backup(_ status: PhotoStatus) -> String {
    let parts = BackupStatus.allCases.compactMap { state -> String? in
      guard let count = status.backups[state], count > 0 else { return nil }
      return "\(count) \(state.label)"
    }
    return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
  }
}

extension BackupStatus {
  /// The status as text: "not backed up".
  var label: String { rawValue.split(separator: "_").joined(separator: " ") }
}
