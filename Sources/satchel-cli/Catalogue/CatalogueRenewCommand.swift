import ArgumentParser
import Satchel

/// `satchel catalogue renew`: lets what is stored for a location expire later.
struct CatalogueRenewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "renew",
    abstract: "Renew the expiry of a location's content that its source did not modify.",
    discussion: """
      The sections of the location itself and their entities expire by their time to live from now on. The content \
      stays.

        satchel catalogue renew guide.satchel --place PT/Porto
        satchel catalogue renew guide.satchel --place PT/Porto --section facts --etag '"v7"'

      Exit codes: 0 renewed; 1 nothing is stored for the location or section; 2 could not run, and nothing was changed.
      """)

  @OptionGroup var arguments: StoreArguments

  @OptionGroup var place: PlaceArguments

  @Option(help: "Only this section.")
  var section: String?

  @Option(help: "The entity tag of the answer; without, those that are stored stay.")
  var etag: String?

  @Option(help: ArgumentHelp("The time to live of the sections from now on.", valueName: "seconds"))
  var maxAge: Int64?

  func validate() throws {
    if !place.isGiven { throw ValidationError("give a place with --place, --at or --location") }
    if let maxAge, maxAge < 0 { throw ValidationError("--max-age: \(maxAge) is negative") }
    if section == "" { throw ValidationError("--section: the name is empty") }
  }

  func run() throws {
    let store = try arguments.open(writing: true)
    guard let location = try place.location(in: store.catalogue) else { return }
    let count = try store.catalogue.renew(location, section: section, etag: etag, maxAge: maxAge)
    try store.close()
    if arguments.json {
      try Terminal.print(json: ["sections": .int(Int64(count))])
    } else if count > 0 {
      print("Renewed \(Terminal.count(count, "section")).")
    } else {
      Terminal.printError("nothing is stored for \(location.name)")
    }
    if count == 0 { throw Terminal.attention }
  }
}
