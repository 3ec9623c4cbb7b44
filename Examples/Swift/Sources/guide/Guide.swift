import Foundation
import Satchel
import Synchronization

/// A travel guide that works offline: stores what a backend sent for some hundred towns, goes offline, and
/// shows what a traveller sees. Usage: guide places.jsonl
@main
struct Guide {
  static let path = "guide.satchel"
  /// In Unix milliseconds; the store asks for it, so that a day can pass here.
  static let today = Atomic(Int64(Date().timeIntervalSince1970 * 1000))

  let store: Store

  init() throws {
    var options = StoreOptions()
    options.clock = Clock { Self.today.load(ordering: .relaxed) }
    store = try Store(path: Self.path, options: options)
  }

  static func main() throws {
    guard CommandLine.arguments.count == 2 else {
      FileHandle.standardError.write(Data("Usage: guide places.jsonl\n".utf8))
      exit(2)
    }
    let porto = try Location(
      latitude: 41.14961, longitude: -8.61099, locality: "Porto", adminArea: "Porto", countryCode: "PT")
    let journey = [
      ("Porto", porto),
      (
        "Porto, 20 metres on",
        try Location(
          latitude: 41.14979, longitude: -8.61099, locality: "Porto", adminArea: "Porto", countryCode: "PT")
      ),
      ("Singapore", try Location(locality: "Singapore", adminArea: "Central Singapore", countryCode: "SG")),
      (
        "A town in Portugal, never visited",
        try Location(locality: "Piódão", adminArea: "Beira", countryCode: "PT")
      ),
    ]

    var guide = try Guide()
    try guide.storeDeliveries(Data(contentsOf: URL(filePath: CommandLine.arguments[1])))
    try guide.keepPictures(of: porto)
    try guide.store.close()

    print("\nOffline from here on.")
    guide = try Guide()
    for (title, location) in journey { try guide.visit(title, location) }
    print("\nPictures of Porto:")
    try guide.showPictures(of: porto)

    print("\nA day passes. What is there to fetch for Porto?")
    try guide.showPlan("before", porto)
    today.add(25 * 3600 * 1000, ordering: .relaxed)
    try guide.showPlan("a day later", porto)
    try guide.visit("Porto, still readable", porto)

    let receipt = try guide.store.catalogue.prune()
    print("\nPruned \(receipt.entities) expired entities, \(receipt.bytes) bytes.")
    try guide.showPlan("after pruning", porto)
    let pruned = try guide.store.assets.prune(maxBytes: 35_000)
    print("Pruned to 35000 bytes of pictures: \(pruned.removed) removed, \(pruned.bytes) bytes are left.")
    try guide.showPictures(of: porto)
    try guide.store.close()
    try FileManager.default.removeItem(atPath: path)
  }

  /// Stores deliveries, one a line; each is durable when its call returns.
  func storeDeliveries(_ file: Data) throws {
    let deliveries = file.split(separator: UInt8(ascii: "\n"))
    let (receipts, took) = try timed {
      try deliveries.flatMap { line in try line.withUnsafeBytes { try store.catalogue.deliver($0) } }
    }
    print("Took in \(deliveries.count) deliveries in \(took) ms; each was on the disk before the next.")
    let shared = receipts.reduce(0) { $0 + $1.sharedBytes }
    print("\(shared) bytes of them were stored once instead of again.")
  }

  /// Shows a place as a screen would: the headers first, then each section's content.
  func visit(_ title: String, _ location: Location) throws {
    let (headers, took) = try timed { try store.catalogue.sections(at: location) }
    print("\n\(title): headers in \(took) ms")
    for header in headers {
      // Old is better than nothing, offline.
      let (section, took) = try timed {
        try store.catalogue.load(header.section, at: location, allowExpired: true)
      }
      let name = header.section.padding(toLength: 7, withPad: " ", startingAt: 0)
      let count = header.entityCount < 10 ? " \(header.entityCount)" : "\(header.entityCount)"
      let level = header.level.name.padding(toLength: 10, withPad: " ", startingAt: 0)
      let expired = section?.expired.count ?? 0
      let title = header.displayTitle ?? ""
      print("  \(took) ms  \(name)  entities \(count), expired \(expired), by \(level)  \(title)")
    }
  }

  /// Shows how many entities of a place have to be fetched.
  func showPlan(_ when: String, _ location: Location) throws {
    let plans = try store.catalogue.plan(for: location).map(\.plan)
    let fresh = plans.reduce(0) { $0 + $1.fresh.count }
    let expired = plans.reduce(0) { $0 + $1.expired.count }
    let missing = plans.reduce(0) { $0 + $1.missing.count }
    let when = when.padding(toLength: 15, withPad: " ", startingAt: 0)
    print("  \(when) \(fresh) fresh, \(expired) expired, \(missing) missing")
  }

  /// Returns the result of some work, and its duration in milliseconds.
  func timed<Result>(_ work: () throws -> Result) rethrows -> (Result, String) {
    let start = ContinuousClock.now
    let result = try work()
    return (result, String(format: "%.3f", (ContinuousClock.now - start) / .milliseconds(1)))
  }
}
