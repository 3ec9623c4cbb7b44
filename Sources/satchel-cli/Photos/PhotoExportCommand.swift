import ArgumentParser
import Satchel

/// `satchel photos export`: writes a catalogue as files.
struct PhotoExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the catalogue as 0.csv to f.csv, and manifest.json.",
    discussion: """
      The files that every platform reads, byte for byte, in place of those that are there.

        satchel photos export guide.satchel ~/Pictures
        satchel photos export guide.satchel ~/Pictures backup/.photolala

      Exit codes: 0 written; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  @Argument(
    help: "Where to, made when there is none; .photolala in the directory unless given.",
    completion: .directory)
  var target: String?

  func run() throws {
    let report = try arguments.withCatalogue { try $0.exportDirectory(target) }
    let output = try Output()
    let text = "\(Terminal.count(Int(report.photos), "photo")) written"
    try output.put((arguments.json ? report.json.plainText : text) + "\n")
    try output.finish()
  }
}
