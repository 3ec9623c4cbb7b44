import ArgumentParser
import Satchel

/// `satchel photos status`: shows whether a library is safe, and the sync state of its catalogue.
struct PhotoStatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show whether the photos are backed up and synced.",
    discussion: """
      Shows how many photos have their file here, had it here, or have it on another device, and how many of \
      these the remote has; then what is damaged, in the trash, to be uploaded and in conflict. Backups count as \
      this device knows them: "backup refresh" asks the remote. --shards adds the sixteen shards.

        satchel photos status guide.satchel ~/Pictures

      Exit codes: 0 shown; 2 could not run, or the store has no catalogue of the directory.
      """)

  @OptionGroup var arguments: PhotoArguments

  @Flag(help: "Show the photos and the last sync of each shard.")
  var shards = false

  func run() throws {
    let (status, safety) = try arguments.withCatalogue { (try $0.status(), try $0.safety()) }
    let output = try Output()
    if arguments.json {
      var json = status.json.objectValue ?? JSONObject()
      json["safety"] = safety.json
      try output.put(JSONValue.object(json).plainText + "\n")
    } else {
      try output.put(text(status, safety) + "\n")
    }
    try output.finish()
  }

  private func text(_ status: PhotoStatus, _ safety: PhotoSafety) -> String {
    let places = [
      ["photos", "backed up", ""], Self.row(safety.present, "with their file here"),
      Self.row(safety.missing, "whose file is gone from here"),
      Self.row(safety.elsewhere, "whose file is on another device"),
    ]
    let pending = status.pendingShards.count
    let facts = [
      ["directory", status.directory.printable], ["uuid", status.uuid ?? ""],
      ["user", status.user ?? "none"],
      ["on conflict", status.onConflict == .merge ? "merge" : "remote-wins"],
      ["last sync", status.lastSync.map { Terminal.time($0) } ?? "never"],
      ["to upload", pending == 0 ? "nothing" : Terminal.count(pending, "shard")],
      ["backup", Self.backup(status)], ["damaged in the remote", "\(safety.damaged)"],
      ["trash", Terminal.count(Int(safety.trash), "photo")],
      ["hidden", Terminal.count(Int(safety.hidden), "photo")], ["conflicts", "\(status.conflicts)"],
      ["kept lines that are not photos", "\(status.keptLines)"],
    ]
    let parts = [
      Self.verdict(safety), Terminal.numericTable(places), shards ? Self.table(status) : nil,
      Terminal.table(facts),
    ]
    return parts.compactMap { $0 }.joined(separator: "\n\n")
  }

  private static func verdict(_ safety: PhotoSafety) -> String {
    if safety.isSafe { return safety.photos == 0 ? "no photos" : "every photo is backed up" }
    let left = safety.photos - safety.backedUp
    return
      "\(left) of \(Terminal.count(Int(safety.photos), "photo")) \(left == 1 ? "is" : "are") not backed up"
  }

  private static func row(_ count: PhotoSafety.Count, _ place: String) -> [String] {
    ["\(count.photos)", "\(count.backedUp)", place]
  }

  private static func table(_ status: PhotoStatus) -> String {
    var rows = [["shard", "photos", "pending", "last sync"]]
    for shard in status.shards {
      rows.append([
        "\(shard.shard)", "\(shard.photos)", shard.isPending ? "upload" : "-",
        shard.lastSync.map { Terminal.time($0) } ?? "never",
      ])
    }
    let pending = status.pendingShards.count
    let all = pending == 0 ? "-" : Terminal.count(pending, "shard")
    rows.append(["all", "\(status.photos)", all, status.lastSync.map { Terminal.time($0) } ?? "never"])
    return Terminal.numericTable(rows)
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
