import Foundation
import Satchel

/// The pictures of the guide: assets, to which the sections of a place refer.
extension Guide {
  private static let sights = ["ribeira", "bridge"]

  /// Stores what a backend says of two sights, and fetches their pictures for the way.
  func keepPictures(of place: Location) throws {
    let pictures = try Self.sights.map {
      try Asset(url: "https://guide.example/\($0).jpg", type: "image/jpeg")
    }
    var content = JSONObject()
    for (name, picture) in zip(Self.sights, pictures) {
      content[name] = [
        "picture": picture.json,
        "_storage": ["entity_id": .string("sights:\(name)"), "scope": "locality", "ttl_hours": 1000],
      ]
    }
    try store.catalogue.persist(
      ["section": "sights", "display_title": "Sights", "content": .object(content)], at: place)
    let report = try store.assets.fetch(pictures) { request, writer in
      // Stands for a download: an HTTP client would append what it receives.
      for _ in 0..<1000 { try writer.append(Array(request.url.utf8)) }
      return .fetched()
    }
    print("Fetched \(report.fetched) pictures, \(report.fetchedBytes) bytes.")
  }

  /// Shows the pictures of the sights, each with a thumbnail that is made once.
  func showPictures(of place: Location) throws {
    let section = try store.catalogue.load("sights", at: place)
    for name in Self.sights {
      guard let value = section?.content[name]?["picture"] else { continue }
      let picture = try Asset(json: value)
      let state = try store.assets.state(of: picture)
      let label = name.padding(toLength: 7, withPad: " ", startingAt: 0)
      guard state == .here else {
        print("  \(label)  \(state.rawValue)")
        continue
      }
      let bytes = try store.assets.bytes(of: picture)
      let small = try store.assets.variant(of: picture, named: "thumb") { reader in
        // Stands for a smaller picture: every hundredth byte.
        let all = try reader.read(Int(reader.size), at: 0)
        return (bytes: stride(from: 0, to: all.count, by: 100).map { all[$0] }, type: nil)
      }
      print("  \(label)  \(bytes.count) bytes, its thumbnail \(small.size ?? 0)")
    }
  }
}
