import ArgumentParser
import Satchel

/// `satchel region`.
struct RegionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "region",
    abstract: "Create, download, show, delete, export and import offline regions, and build files of them.",
    discussion: """
      An offline region is a named part of the catalogue that no prune removes.

        satchel region create guide.satchel lisboa --place PT/Lisboa
        satchel region download guide.satchel porto --from https://api.example.org/content
        satchel region update guide.satchel porto --from https://api.example.org/content
        satchel region list guide.satchel
        satchel region show guide.satchel porto
        satchel region export guide.satchel porto -o porto.region
        satchel region import guide.satchel porto.region
        satchel region build porto/ --name porto -o porto.region
      """,
    subcommands: [
      RegionCreateCommand.self, RegionDownloadCommand.self, RegionUpdateCommand.self, RegionListCommand.self,
      RegionShowCommand.self, RegionDeleteCommand.self, RegionExportCommand.self, RegionImportCommand.self,
      RegionBuildCommand.self,
    ])
}

/// `satchel region list`: lists the regions of a store.
struct RegionListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the offline regions of a store, with their states and sizes.",
    discussion: """
        satchel region list guide.satchel

      Exit codes: 0 also without regions; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  func run() throws {
    let store = try arguments.open()
    let regions = try store.catalogue.regions.list()
    try store.close()
    if arguments.json { return try Terminal.print(json: .array(regions.map(\.json))) }
    if regions.isEmpty { return print("No offline regions.") }
    let rows = regions.map { region in
      [
        region.name.printable, region.state.rawValue,
        Terminal.count(region.size.entities, "entity", plural: "entities"),
        Terminal.count(region.size.assets, "asset"), Terminal.bytes(region.size.totalBytes),
      ]
    }
    print(Terminal.table(rows))
  }
}

/// `satchel region show`: shows a region.
struct RegionShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show an offline region: its state, its sizes, and what failed.",
    discussion: """
        satchel region show guide.satchel porto

      Exit codes: 0 shown; 1 there is no such region; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The name of the region.")
  var name: String

  func run() throws {
    let store = try arguments.open()
    let region = try store.catalogue.regions[name]?.summary()
    try store.close()
    guard let region else { throw RegionCommand.missing(name) }
    if arguments.json { return try Terminal.print(json: region.json) }
    let size = region.size
    print("\(region.name.printable): \(region.state.rawValue)")
    print(
      "\(Terminal.count(size.sections, "section")) and "
        + "\(Terminal.count(size.entities, "entity", plural: "entities")): \(Terminal.bytes(size.bytes))")
    print("\(Terminal.count(size.assets, "asset")): \(Terminal.bytes(size.assetBytes))")
    if size.requestsLeft > 0 { print("\(Terminal.count(size.requestsLeft, "request")) left") }
    if size.assetsLeft > 0 {
      print(
        "\(Terminal.count(size.assetsLeft, "asset")) left: \(Terminal.bytes(size.assetBytesLeft)), "
          + "and \(size.unknownSizes) of unknown size")
    }
    if size.missing + size.expired > 0 { print("\(size.missing) missing, \(size.expired) expired") }
    RegionCommand.print(failures: region.failed)
  }
}

/// `satchel region delete`: deletes a region with its content.
struct RegionDeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete an offline region with the content that nothing else needs.",
    discussion: """
        satchel region delete guide.satchel porto

      Exit codes: 0 deleted; 1 there is no such region; 2 could not run, and nothing was changed.
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The name of the region.")
  var name: String

  func run() throws {
    let store = try arguments.open(writing: true)
    let deletion = try store.catalogue.regions[name]?.delete()
    try store.close()
    guard let deletion else { throw RegionCommand.missing(name) }
    if arguments.json { return try Terminal.print(json: deletion.json) }
    print(
      "Deleted \(Terminal.count(deletion.sections, "section")), "
        + "\(Terminal.count(deletion.entities, "entity", plural: "entities")) and "
        + "\(Terminal.count(deletion.assets, "asset")): \(Terminal.bytes(deletion.bytes + deletion.assetBytes))."
    )
  }
}

/// `satchel region export`: writes a region into a file.
struct RegionExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write an offline region into one file.",
    discussion: """
        satchel region export guide.satchel porto -o porto.region

      Exit codes: 0 written; 1 there is no such region; 2 could not run, and the file is what it was.
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The name of the region.")
  var name: String

  @Option(
    name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
  var output: String

  func run() throws {
    let store = try arguments.open()
    let report = try store.catalogue.regions[name]?.export(to: output)
    try store.close()
    guard let report else { throw RegionCommand.missing(name) }
    try RegionCommand.print(report, output, json: arguments.json)
  }
}

/// `satchel region import`: adds the region of a file.
struct RegionImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Add the offline region of a file to a store.",
    discussion: """
        satchel region import guide.satchel porto.region

      Exit codes: 0 imported; 2 could not run, and nothing was changed.
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The file of the region.", completion: .file())
  var file: String

  func run() throws {
    let store = try arguments.open(writing: true)
    let region = try store.catalogue.regions.importRegion(file).summary()
    try store.close()
    if arguments.json { return try Terminal.print(json: region.json) }
    print(
      "Imported \(region.name.printable): \(Terminal.count(region.size.entities, "entity", plural: "entities")) and "
        + "\(Terminal.count(region.size.assets, "asset")), \(Terminal.bytes(region.size.totalBytes)).")
  }
}

extension RegionCommand {
  /// Prints that there is no such region.
  ///
  /// - Returns: the error that ends the command with exit code 1
  static func missing(_ name: String) -> any Error {
    Terminal.printError("there is no region \(name.printable)")
    return Terminal.attention
  }

  static func print(failures: [RegionFailure]) {
    for failure in failures {
      let item = failure.asset?.url ?? failure.location?.keys.first?.text ?? ""
      Swift.print("failed: \(item.printable): \(failure.message.printable)")
    }
  }

  static func print(_ report: RegionExport, _ output: String, json: Bool) throws {
    if json { return try Terminal.print(json: report.json) }
    Swift.print(
      "Wrote \(output.printable): \(Terminal.count(report.entities, "entity", plural: "entities")) and "
        + "\(Terminal.count(report.assets, "asset")), \(Terminal.bytes(report.bytes)).")
    if report.missingAssets > 0 {
      Swift.print("Without \(Terminal.count(report.missingAssets, "asset")) whose bytes are not here.")
    }
  }
}
