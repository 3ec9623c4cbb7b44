import ArgumentParser
import Satchel

/// `satchel store stats`: what takes the space.
struct StoreStats: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Show what takes the space, and what waits.",
    discussion: """
      The size of each subject, in whole pages, and what it holds; for each collection of records its documents, \
      changes that wait for the next sync, and conflicts; pages that are free; changes that wait in the spill file. \
      Reads every page, changes nothing.

        satchel store stats planner.satchel

      Exit codes: 0 shown; 1 shown, but changes wait in the spill file, or were refused when the store was to take \
      them in; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    let statistics = try store.statistics()
    let output = try Output()
    try output.put(arguments.json ? statistics.json.plainText + "\n" : Self.text(statistics))
    try output.finish()
    if statistics.spilled > 0 || !statistics.spillDamages.isEmpty || statistics.refused > 0 {
      throw Terminal.attention
    }
  }

  private static func text(_ statistics: StoreStatistics) -> String {
    var parts = [Terminal.figures(subjects(statistics))]
    if !statistics.collections.isEmpty { parts.append(Terminal.figures(collections(statistics))) }
    parts.append(Terminal.table(facts(statistics)))
    return parts.joined(separator: "\n\n") + "\n"
  }

  private static func subjects(_ statistics: StoreStatistics) -> [[String]] {
    statistics.subjects.map { subject in
      let counts = subject.counts.map { Terminal.count($0.count, singular($0.name), $0.name) }
        .joined(separator: ", ")
      let size = subject.bytes.map(Terminal.bytes) ?? "unknown"
      return [size, counts.isEmpty ? subject.name : "\(subject.name): \(counts)"]
    }
  }

  /// "entity" of "entities".
  private static func singular(_ name: String) -> String {
    if name.hasSuffix("ies") { return name.dropLast(3) + "y" }
    return name.hasSuffix("s") ? String(name.dropLast()) : name
  }

  private static func collections(_ statistics: StoreStatistics) -> [[String]] {
    let heading = ["records", "documents", "waiting", "conflicts", "collection"]
    return [heading]
      + statistics.collections.map { collection in
        [
          "\(collection.records)", Terminal.bytes(collection.bytes), "\(collection.pending)",
          "\(collection.conflicts)", collection.name,
        ]
      }
  }

  private static func facts(_ statistics: StoreStatistics) -> [[String]] {
    let free = Terminal.bytes(Int64(statistics.freePages) * statistics.pageSize)
    var facts = [
      ["file", Terminal.bytes(statistics.fileBytes)],
      ["free", "\(statistics.freePages) of \(Terminal.count(statistics.pages, "page")), \(free)"],
      ["spilled", "\(Terminal.count(statistics.spilled, "change")) waiting in the spill file"],
      ["refused", Terminal.count(statistics.refused, "change")],
    ]
    for damage in statistics.spillDamages { facts.append(["spill file", damage.printable]) }
    return facts
  }
}
