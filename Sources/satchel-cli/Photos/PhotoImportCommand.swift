import ArgumentParser
import Satchel

/// `satchel photos import`: reads a catalogue from shard files.
struct PhotoImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Read the catalogue from the files 0.csv to f.csv of a directory.",
    discussion: """
      Each file replaces its shard. A shard is not changed when its file does not exist, cannot be read, or \
      differs from the checksum in a manifest.json in the same directory (it may have been truncated). Lines \
      that are not photos are reported, kept, and written again by every export. Local data (stars, cameras, \
      backups) is kept. Local changes that differ from the files become conflicts; with --on-conflict merge \
      they are applied on top.

        satchel photos import --create guide.satchel ~/Pictures
        satchel photos import guide.satchel ~/Pictures backup/.photolala

      Exit codes: 0 imported; 1 a file could not be read or does not match the manifest, lines are not \
      photos, or local changes lost a conflict; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments
  @OptionGroup var creation: CreationArguments

  @Argument(
    help: "The directory of the files; the default is .photolala in the directory.", completion: .directory)
  var source: String?

  @Option(help: "How to resolve conflicts with local changes.")
  var onConflict = PhotoSyncCommand.Policy.remoteWins

  func run() throws {
    try creation.check(source ?? arguments.directory + "/.photolala")
    let report = try arguments.withCatalogue(writing: true, creating: creation.create) {
      try $0.importDirectory(source, onConflict: onConflict.policy)
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
      Terminal.printError("no manifest.json in the directory: the files could not be verified")
    }
    if report.conflicts > 0, !arguments.json {
      let changes = Terminal.count(report.conflicts, "change")
      Terminal.printError("\(changes) lost a conflict: see \"satchel conflicts\"")
    }
    if report.conflicts > 0 || !report.rejected.isEmpty || !report.failed.isEmpty { throw Terminal.attention }
  }
}
