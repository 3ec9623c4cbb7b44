import ArgumentParser
import Satchel

/// `satchel photos status`: what a catalogue holds, and what is pending.
struct PhotoStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show how many photos there are, and what waits for the next sync.",
    discussion: """
      For each shard its photos, and whether changes wait to be sent; then the same for all, the last sync, backups, \
      conflicts, and how many lines are kept that are no photos.

        satchel photos status guide.satchel ~/Pictures

      Exit codes: 0 shown; 2 could not run, or the store has no catalogue of this directory.
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
    let waiting = status.pendingShards.count
    var rows = [["shard", "photos", "waiting"]]
    for shard in status.shards {
      rows.append(["\(shard.shard)", "\(shard.photos)", shard.isPending ? "to be sent" : "-"])
    }
    let all = waiting == 0 ? "-" : Terminal.count(waiting, "shard")
    rows.append(["all", "\(status.photos)", all])
    let facts = [
      ["directory", status.directory.printable], ["uuid", status.uuid ?? ""],
      ["user", status.user ?? "none yet"],
      ["last sync", status.lastSync.map { Terminal.time($0) } ?? "never"],
      ["backup", backup(status)], ["conflicts", "\(status.conflicts)"],
      ["lines kept that are no photos", "\(status.keptLines)"],
    ]
    return Terminal.figures(rows) + "\n\n" + Terminal.table(facts)
  }

  private static func backup(_ status: PhotoStatus) -> String {
    let parts = BackupStatus.allCases.compactMap { state -> String? in
      guard let count = status.backups[state], count > 0 else { return nil }
      return "\(count) \(state.words)"
    }
    return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
  }
}

extension BackupStatus {
  /// For people: "not backed up".
  var words: String { rawValue.split(separator: "_").joined(separator: " ") }
}
