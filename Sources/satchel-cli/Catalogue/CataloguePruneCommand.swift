import ArgumentParser
import Satchel

/// `satchel catalogue prune`: deletes content and shrinks the file.
struct CataloguePruneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Delete expired or unused content and shrink the file.",
    discussion: """
      Deletes the content of expired entities by default. --section, --scope and a place restrict \
      --expired and --unreferenced; with --no-expired and without --unreferenced, all entities that they \
      select are deleted.

        satchel catalogue prune guide.satchel
        satchel catalogue prune guide.satchel --contexts-unused-for 720
        satchel catalogue prune guide.satchel --max-bytes 50000000
        satchel catalogue prune guide.satchel --no-expired --section news

      A pruned entity that a section still refers to is reported as missing until it is delivered again.

      Exit codes: 0 pruned, or nothing to prune; 2 could not run, and nothing was changed.
      """)

  @OptionGroup var arguments: StoreArguments

  @Flag(inversion: .prefixedNo, help: "Delete the content of expired entities.")
  var expired = true

  @Flag(help: "Delete entities that no section refers to.")
  var unreferenced = false

  @Option(help: "Only entities of this section.")
  var section: String?

  @Option(help: "Only entities of this scope: global, country, adminarea, locality, sublocality, coordinate.")
  var scope: String?

  @OptionGroup var place: PlaceArguments

  @Option(
    help: ArgumentHelp(
      "Also delete places that were neither written nor read for this long.", valueName: "hours"))
  var contextsUnusedFor: Double?

  @Option(
    help: ArgumentHelp(
      "Then delete expired entities and the least recently used places until the content is this small.",
      valueName: "n"))
  var maxBytes: Int64?

  func validate() throws {
    // A thousand years, which cannot overflow a time in milliseconds.
    if let hours = contextsUnusedFor, !(0...8_784_000).contains(hours) {
      throw ValidationError("--contexts-unused-for: \(hours) is not in 0 to 8784000 hours")
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
    options.contextsUnusedFor = contextsUnusedFor.map { Int64($0 * 3_600_000) }
    options.maxBytes = maxBytes
    let store = try arguments.open(writing: true)
    options.location = try place.location(in: store.catalogue)
    let receipt = try store.catalogue.prune(options)
    try store.close()
    if arguments.json { return try Terminal.print(json: receipt.json) }
    let entities = Terminal.count(receipt.entities, "entity", plural: "entities")
    let places = Terminal.count(receipt.contexts, "place")
    print("Deleted \(entities) and \(places): \(receipt.bytes) bytes of content.")
    print("The file shrank by \(receipt.fileBytes) bytes.")
    if receipt.pinnedBytes > 0 {
      print("Offline regions keep \(receipt.pinnedBytes) bytes that were selected.")
    }
    if receipt.overBudget > 0 {
      print(
        "The active location and offline regions have \(receipt.overBudget) bytes more than the budget; they stay."
      )
    }
  }
}
