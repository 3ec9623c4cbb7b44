import ArgumentParser
import Satchel

/// `satchel catalogue search`: finds entities by the words of their texts.
struct CatalogueSearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Find entities by the words of their texts.",
    discussion: """
      All words must occur, each at the beginning of a word; case and diacritics are ignored. With a place, \
      finds only what the sections of the location show. The first search makes an index in the store.

        satchel catalogue search guide.satchel "soup dumpl"
        satchel catalogue search guide.satchel 籠包 --place CN

      Exit codes: 0 found; 1 nothing was found; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The words.")
  var text: String

  @OptionGroup var place: PlaceArguments

  @Option(help: PlaceArguments.nearbyHelp)
  var nearby = Catalogue.defaultNearby

  @Option(help: "The maximum number of results.")
  var limit = 20

  @Flag(help: "Find expired entities, too.")
  var allowExpired = false

  func run() throws {
    let store = try arguments.open(writing: true)
    defer { try? store.close() }
    let hits = try store.catalogue.search(
      text, at: place.location(in: store.catalogue), limit: limit, allowExpired: allowExpired, nearby: nearby)
    if arguments.json {
      try Terminal.print(json: .array(hits.map(\.json)))
    } else if hits.isEmpty {
      Terminal.printError("nothing was found")
    } else {
      print(Terminal.table(hits.map { [$0.entityID, $0.displayName, $0.place ?? "global", $0.excerpt] }))
    }
    if hits.isEmpty { throw Terminal.attention }
  }
}
