import Foundation
import Satchel
import Synchronization

/// A travel guide that works offline: the screen of a place, and a trip that is downloaded with its pictures.
///
/// Start the backend in another terminal; the guide asks you to change one of its files, and to stop it.
///     python3 Examples/Backend/backend.py
///     swift run --package-path Examples/Swift guide http://127.0.0.1:8000/places
@main
struct Guide {
  static let hour: Int64 = 3_600_000
  /// In Unix milliseconds; the store asks for it, so that a day can pass here.
  static let today = Atomic(Int64(Date().timeIntervalSince1970 * 1000))
  let store: Store
  let backend: HTTPSource
  let trip: [Location]

  static func main() async throws {
    var options = StoreOptions()
    options.clock = Clock { today.load(ordering: .relaxed) }
    let store = try Store(path: "guide.satchel", options: options)
    // A private address, as "localhost", has to be that of the base URL, or allowed by `allowsPrivateAddresses`.
    let backend = try HTTPSource(baseURL: CommandLine.arguments[1])
    let trip = try [("Porto", "Porto"), ("Lisbon", "Lisbon"), ("Sintra", "Lisbon")].map {
      try Location(locality: $0, adminArea: $1, countryCode: "PT")
    }
    try await Guide(store: store, backend: backend, trip: trip).travel(from: trip[0])
    try store.close()
    try FileManager.default.removeItem(atPath: "guide.satchel")
  }

  func travel(from porto: Location) async throws {
    print("Porto is opened for the first time:")
    try await Screen(of: porto, in: self).session.end()
    print("\nPorto is opened again:")
    let screen = try await Screen(of: porto, in: self)
    print("\nIs there anything new? What is fresh is asked for by force only:")
    try refresh(porto)
    try refresh(porto, force: true)
    ask("Change the title \"Sights of Porto\" in places/porto.json of the backend")
    try await screen.pullDown()
    print("\nSingapore is stored, and is not of the trip:")
    try refresh(Location(locality: "Singapore", countryCode: "SG"))
    print("\nThe trip is downloaded:")
    let region = try downloadTrip()
    try show(region)
    ask("Stop the backend")
    print("\nA day passes. The screen is pulled down:")
    Self.today.add(25 * Self.hour, ordering: .relaxed)
    try await screen.pullDown()
    screen.session.end()
    print("\nBraga, which is not of the trip, is opened:")
    let braga = try Location(locality: "Braga", adminArea: "Braga", countryCode: "PT")
    try await Screen(of: braga, in: self).session.end()
    print("\nThe trip is there without the backend, some of it expired:")
    try show(region)
    try makeRoom()
    try show(region)
    print("\nThe trip is deleted, which frees:")
    try delete(region)
  }

  func ask(_ request: String) {
    print("\n\(request), and press Enter.")
    fflush(nil)
    _ = readLine()
  }

  /// Gets what is missing or old; by force, asks also whether what is fresh has changed.
  func refresh(_ place: Location, force: Bool = false) throws {
    var options = RefreshOptions()
    options.force = force
    let report = try store.catalogue.refresh(place, from: backend, options: options)
    let news = "\(report.refreshed.count) new sections, \(report.unchanged.count) not modified (304)"
    print("  \(report.skipped.first.map { "not asked: \($0.reason)" } ?? news)")
  }

  func downloadTrip() throws -> Region {
    let definition = RegionDefinition(areas: trip.map { .init($0) })
    let region = try store.catalogue.regions.create("Portugal", definition)
    try region.download(from: backend) { progress in
      print("\r  \(progress.itemsDone) of \(progress.items)", terminator: "")
      return fflush(nil) == 0  // false cancels; what has arrived stays
    }
    print()
    return region
  }

  /// Shows what is here of the trip, and reads the bytes of its pictures.
  func show(_ region: Region) throws {
    var pictures = ""
    for place in trip {
      let sights = try store.catalogue.load("sights", at: place)?.content["items"]?.arrayValue ?? []
      for picture in sights.compactMap({ $0["picture"] }) {
        pictures += " \(try store.assets.bytes(of: Asset(json: picture)).count)"
      }
    }
    let (state, size) = (try region.state.rawValue, try region.estimate())
    print("  \(state): \(size.sections) sections, \(size.entities) entries; pictures of\(pictures) bytes")
  }

  func makeRoom() throws {
    var options = PruneOptions()
    options.maxBytes = 1000
    let receipt = try store.catalogue.prune(options)
    _ = try store.assets.prune(maxBytes: 1000)
    print("\nPruned to 1000 bytes: \(receipt.contexts) place is gone, nothing of the trip:")
  }

  func delete(_ region: Region) throws {
    try store.catalogue.setActiveLocation(nil)  // no screen shows it
    let gone = try region.delete()
    print("  \(gone.sections) sections, \(gone.assets) pictures of \(gone.assetBytes) bytes")
  }
}
