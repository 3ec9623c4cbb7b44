import ArgumentParser
import Satchel

/// `satchel photos import`: takes a catalogue from files.
struct PhotoImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Take the catalogue from 0.csv to f.csv of a directory.",
    discussion: """
      Each file replaces its shard; shards without a file, or whose file cannot be read, are left as they are. So are \
      those whose file is not the one that a manifest.json beside them names: it may have been cut short. Lines \
      that are no photos are named, kept, and written back by every export. What is known here only (stars, cameras, \
      backups) stays. Local changes that the files differ from go to the conflicts; with --policy merge-rows they stay on top.

        satchel photos import --create guide.satchel ~/Pictures
        satchel photos import guide.satchel ~/Pictures backup/.photolala

      Exit codes: 0 taken; 1 a file could not be read or is not the one that \
      the manifest names, lines are no photos, or changes lost; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var creation: CreationArguments

  @Argument(help: "Where the files are; .photolala in the directory unless given.", completion: .directory)
  var source: String?

  @Option(help: "Which side wins where there are local changes.")
  var policy = PhotoSyncCommand.Policy.remoteWins

  func run() throws {
    try creation.check(source ?? arguments.directory + "/.photolala")
    let report = try arguments.withCatalogue(writing: true, creating: creation.create) {
      try $0.importDirectory(source, policy: policy.policy)
    }
    let output = try Output()
    if arguments.json {
      try output.put(report.json.plainText + "\n")
    } else {
      for (shard, rows) in report.rejected.sorted(by: { $0.key < $1.key }) {
        for row in rows { try output.put("\(shard.fileName):\(row.line): \(row.reason)\n") }
      }
      for failure in report.failed {
        try output.put("\(failure.shard.fileName): \(failure.error.message.printable)\n")
      }
      let files = Terminal.count(Shard.Index.all.count - report.missing.count - report.failed.count, "file")
      try output.put("\(Terminal.count(Int(report.photos), "photo")) in \(files)\n")
    }
    try output.finish()
    if !report.hasManifest, !arguments.json {
      Terminal.complain("no manifest.json beside the files: nothing shows whether they are complete")
    }
    if report.conflicts > 0, !arguments.json {
      let changes = Terminal.count(report.conflicts, "change")
      Terminal.complain("\(changes) lost, and kept: see \"satchel photos conflicts\"")
    }
    if report.conflicts > 0 || !report.rejected.isEmpty || !report.failed.isEmpty { throw Terminal.attention }
  }
}
