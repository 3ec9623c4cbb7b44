import ArgumentParser
import Satchel

/// `satchel store stats`: shows the use of space in a store's file.
struct StoreStatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Show the sizes of subjects and collections, and pending changes.",
    discussion: """
      Shows the size of each subject in whole pages and the number of its items; for each collection of \
      records the size of its documents, the changes to upload, and the conflicts; the number and size of the \
      assets, of those in the folder next to the store, of variants, of those that are elsewhere (in the remote \
      or at a URL) or missing, and of those whose upload waits; what offline regions keep, and how fresh the \
      catalogue is; the free pages; the spooled changes in the outbox file. Reads every page and changes nothing.

        satchel store stats planner.satchel

      Exit codes: 0 shown; 1 shown, and there are spooled changes in the outbox file, or the store rejected \
      some; 2 could not run.
      """)

  @OptionGroup var arguments: StoreArguments

  func run() throws {
    let store = try arguments.open()
    defer { try? store.close() }
    let statistics = try store.statistics()
    let output = try Output()
    try output.put(arguments.json ? statistics.json.plainText + "\n" : Self.text(statistics))
    try output.finish()
    if statistics.spooled > 0 || !statistics.outboxDamages.isEmpty || statistics.rejected > 0 {
      throw Terminal.attention
    }
  }

  private static func text(_ statistics: StoreStatistics) -> String {
    var parts = [Terminal.numericTable(subjects(statistics))]
    if !statistics.collections.isEmpty { parts.append(Terminal.numericTable(collections(statistics))) }
    parts.append(Terminal.table(facts(statistics)))
    return parts.joined(separator: "\n\n") + "\n"
  }

  private static func subjects(_ statistics: StoreStatistics) -> [[String]] {
    statistics.subjects.map { subject in
      let counts = statistics.countsText(of: subject)
      let size = subject.bytes.map(Terminal.bytes) ?? "unknown"
      return [size, counts.isEmpty ? subject.name : "\(subject.name): \(counts)"]
    }
  }

  private static func collections(_ statistics: StoreStatistics) -> [[String]] {
    let heading = ["records", "documents", "pending", "conflicts", "collection"]
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
      ["WAL", "\(Terminal.bytes(statistics.walBytes)) of it"],
      ["free", "\(statistics.freePages) of \(Terminal.count(statistics.pages, "page")), \(free)"],
      ["spooled", "\(Terminal.count(statistics.spooled, "change")) in the outbox file"],
      ["rejected", Terminal.count(statistics.rejected, "change")],
    ]
    if let text = statistics.catalogue.regionsText { facts.append(["regions", text]) }
    if let text = statistics.catalogue.freshnessText { facts.append(["freshness", text]) }
    for damage in statistics.outboxDamages { facts.append(["outbox file", damage.printable]) }
    return facts
  }
}

extension StoreStatistics {
  /// The contents of a subject as text: "1 collection, 53 records".
  func countsText(of subject: Subject) -> String {
    subject.name == "assets" ? assets.text ?? "" : subject.countsText
  }
}

extension StoreStatistics.Subject {
  fileprivate var countsText: String {
    counts.map { Terminal.count($0.count, Self.singular($0.name), plural: $0.name) }.joined(
      separator: ", ")
  }

  /// Returns the singular of an English plural: "entity" for "entities".
  private static func singular(_ name: String) -> String {
    if name.hasSuffix("ies") { return name.dropLast(3) + "y" }
    return name.hasSuffix("s") ? String(name.dropLast()) : name
  }
}
