import ArgumentParser
import Satchel

/// `satchel photos export`: writes a catalogue to shard files.
struct PhotoExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the catalogue to the files 0.csv to f.csv and manifest.json.",
    discussion: """
      The files are byte for byte those that other platforms write; existing files are replaced.

        satchel photos export guide.satchel ~/Pictures
        satchel photos export guide.satchel ~/Pictures backup/.photolala

      Exit codes: 0 written; 2 could not run.
      """)

  @OptionGroup var arguments: PhotoArguments

  @Argument(
    help: "The target directory, created if it does not exist; the default is .photolala in the directory.",
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
