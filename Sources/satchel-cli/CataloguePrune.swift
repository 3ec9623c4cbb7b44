import ArgumentParser
import Satchel

/// `satchel catalogue prune`: removes content, and makes the file smaller.
struct CataloguePrune: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Remove content, and give its space back.",
    discussion: """
      As it stands, the content of entities that have expired. --section, --scope and --location narrow what \
      --expired and --unreferenced take; with --no-expired and without --unreferenced, everything goes that \
      they name.

        satchel catalogue prune guide.satchel
        satchel catalogue prune guide.satchel --contexts-unused-for 720
        satchel catalogue prune guide.satchel --max-bytes 50000000
        satchel catalogue prune guide.satchel --no-expired --section news

      An entity that a section still refers to is named as missing afterwards, and is whole again when it is \
      delivered again.

      Exit codes: 0 pruned, be it nothing; 2 could not run, and nothing was changed.
      """)

  @OptionGroup var arguments: StoreArguments

  @Flag(inversion: .prefixedNo, help: "Content of entities that have expired.")
  var expired = true

  @Flag(help: "Entities that no section refers to any more.")
  var unreferenced = false

  @Option(help: "Only what this section refers to.")
  var section: String?

  @Option(help: "Only entities of this scope: global, country, adminarea, locality, sublocality, coordinate.")
  var scope: String?

  @Option(help: LocationArgument.help, transform: LocationArgument.init)
  var location: LocationArgument?

  @Option(
    help: ArgumentHelp("Also places that were neither written nor read for so long.", valueName: "hours"))
  var contextsUnusedFor: Double?

  @Option(
    help: ArgumentHelp(
      "Then, while the store holds more: what expired, and the least recently used places.", valueName: "n"))
  var maxBytes: Int64?

  func validate() throws {
    // A thousand years is for ever, and cannot overflow a time.
    if let hours = contextsUnusedFor, !(0...8_784_000).contains(hours) {
      throw ValidationError("--contexts-unused-for: \(hours) is not a number of hours from 0 to 8784000")
    }
    if let maxBytes, maxBytes < 0 { throw ValidationError("--max-bytes: \(maxBytes) is negative") }
    if let scope, Scope(name: scope) == nil { throw ValidationError("--scope: unknown scope \(scope)") }
    if section == "" { throw ValidationError("--section: the name is empty") }
  }

  func run() throws {
    var options = PruneOptions()
    options.expired = expired
    options.unreferenced = unreferenced
    options.section = section
    options.scope = scope.flatMap(Scope.init(name:))
    options.location = location?.location
    options.contextsUnusedFor = contextsUnusedFor.map { Int64($0 * 3_600_000) }
    options.maxBytes = maxBytes
    let store = try arguments.open(writing: true)
    let receipt = try store.catalogue.prune(options)
    try store.close()
    if arguments.json { return try Terminal.print(json: receipt.json) }
    let entities = Terminal.count(receipt.entities, "entity", "entities")
    let places = Terminal.count(receipt.contexts, "place")
    print("Removed \(entities) and \(places): \(receipt.bytes) bytes of content.")
    print("The file is smaller by \(receipt.fileBytes) bytes.")
  }
}
