import ArgumentParser
import Satchel

/// `satchel catalogue locate`: lists the delivered locations near a position.
struct CatalogueLocateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "locate",
    abstract: "List the places near a position that content was delivered for.",
    discussion: """
      Lists them by distance, the nearest first.

        satchel catalogue locate guide.satchel --at 41.15,-8.61 --within 20000

      Exit codes: 0 listed; 1 nothing was delivered for a place within the distance; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The position in degrees: latitude,longitude.", valueName: "position"),
    transform: Position.init)
  var at: Position

  @Option(help: ArgumentHelp("The maximum distance.", valueName: "metres"))
  var within = Catalogue.defaultNearby

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    let found = try store.catalogue.locate(
      latitude: at.latitude, longitude: at.longitude, within: within)
    if arguments.json {
      try Terminal.print(json: .array(found.map(\.json)))
    } else if found.isEmpty {
      Terminal.printError("nothing was delivered for a place within \(Int64(clamping: within)) m")
    } else {
      print(Terminal.table(found.map { ["\(Int64(clamping: $0.distance)) m", $0.location.name] }))
    }
    if found.isEmpty { throw Terminal.attention }
  }
}

extension Int64 {
  /// Creates the nearest integer of a number that may be too large.
  fileprivate init(clamping number: Double) { self = Int64(exactly: number.rounded()) ?? .max }
}
