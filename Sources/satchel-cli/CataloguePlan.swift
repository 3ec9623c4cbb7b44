import ArgumentParser
import Satchel

/// `satchel catalogue plan`: what there is to fetch for a location.
struct CataloguePlan: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Show what has to be fetched for a location.",
    discussion: """
      For each section: how many entities are fresh, and which are expired or missing (pruned, and still \
      referred to). Content is not read.

        satchel catalogue plan guide.satchel --location '{"country_code": "PT"}'

      Exit codes: 0 all is fresh; 1 there is something to fetch, or nothing is stored at all; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  @Option(help: LocationArgument.help, transform: LocationArgument.init)
  var location: LocationArgument

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    let plans = try store.catalogue.plan(for: location.location)
    if arguments.json {
      try Terminal.print(json: .object(JSONObject(plans.map { ($0.section, $0.plan.json) })))
    } else if plans.isEmpty {
      Terminal.complain("nothing is stored for this location: fetch all of it")
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
