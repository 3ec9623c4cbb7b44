import ArgumentParser
import Satchel

/// `satchel catalogue plan`: shows which entities have to be fetched for a location.
struct CataloguePlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Show which entities have to be fetched for a location.",
    discussion: """
      Shows for each section the number of fresh entities and the ids of expired and missing ones. An entity \
      is missing when it was pruned and a section still refers to it. Content is not read.

        satchel catalogue plan guide.satchel --place PT/Porto
        satchel catalogue plan guide.satchel --at 41.15,-8.61 --json

      Exit codes: 0 all entities are fresh; 1 entities have to be fetched, or nothing is stored for the \
      location; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @OptionGroup var place: PlaceArguments

  @Option(help: PlaceArguments.nearbyHelp)
  var nearby = Catalogue.defaultNearby

  func validate() throws {
    if !place.isGiven { throw ValidationError("give a place with --place, --at or --location") }
  }

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    guard let location = try place.location(in: store.catalogue) else { return }
    let plans = try store.catalogue.plan(for: location, nearby: nearby)
    if arguments.json {
      try Terminal.print(json: .object(JSONObject(plans.map { ($0.section, $0.plan.json) })))
    } else if plans.isEmpty {
      Terminal.printError("nothing is stored for this location: fetch all sections")
    } else {
      let rows = plans.map { section, plan in
        [
          section, "\(plan.fresh.count) fresh", "\(plan.expired.count) expired",
          "\(plan.missing.count) missing",
        ]
      }
      print(Terminal.table(rows))
      for (_, plan) in plans {
        for id in plan.expired { print("expired  \(id.printable)") }
        for id in plan.missing { print("missing  \(id.printable)") }
      }
    }
    let isFresh = plans.allSatisfy { $0.plan.expired.isEmpty && $0.plan.missing.isEmpty }
    if plans.isEmpty || !isFresh { throw Terminal.attention }
  }
}
