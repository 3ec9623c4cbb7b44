import ArgumentParser
import Satchel

/// `satchel catalogue delete`: deletes one entity, or what was delivered for a location.
struct CatalogueDeleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete an entity, or what was delivered for a location.",
    discussion: """
      An entity is deleted with all its variants, and sections that refer to it report it as missing. With \
      --place, --at or --location, the sections of the location itself are deleted, with the entities that only they refer to.

        satchel catalogue delete guide.satchel --entity food:xlb
        satchel catalogue delete guide.satchel --place PT/Porto

      Exit codes: 0 deleted; 1 nothing of that was stored; 2 could not run, and nothing was changed.
      """)

  @OptionGroup var arguments: StoreArguments

  @Option(help: ArgumentHelp("The id of the entity to delete.", valueName: "id"))
  var entity: String?

  @OptionGroup var place: PlaceArguments

  func validate() throws {
    if (entity != nil) == place.isGiven {
      throw ValidationError("give either --entity, or a place with --place, --at or --location")
    }
  }

  func run() throws {
    let store = try arguments.open(writing: true)
    let deleted = try entity.map { try store.catalogue.deleteEntity($0) }
    let removed = try place.location(in: store.catalogue).map { try store.catalogue.deleteContext($0) }
    try store.close()
    guard let receipt = deleted ?? removed else { return }
    let isNothing = receipt.entities == 0 && receipt.contexts == 0
    if arguments.json {
      try Terminal.print(json: receipt.json)
    } else if isNothing {
      Terminal.printError("nothing of that is stored")
    } else {
      let entities = Terminal.count(receipt.entities, "entity", plural: "entities")
      print(
        "Deleted \(entities) and \(Terminal.count(receipt.contexts, "place")): \(receipt.bytes) bytes of content."
      )
    }
    if isNothing { throw Terminal.attention }
  }
}
