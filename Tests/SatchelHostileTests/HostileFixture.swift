import Foundation
import Satchel
import SatchelTesting

/// A store with rows in all tables of all subjects, of which every case changes a copy.
final class HostileFixture: Sendable {
  let folder: TemporaryDirectory
  /// The sound store's bytes.
  let bytes: Data
  var stories: String { folder.path + "/stories" }
  var remote: String { folder.path + "/remote" }
  private var soundRemote: String { folder.path + "/remote.sound" }

  static let start: Int64 = 1_700_000_000_000

  init() throws {
    folder = try TemporaryDirectory()
    let path = folder.path + "/sound.satchel"
    for name in ["one", "two"] {
      try folder.write(Self.story(name), to: "stories/\(name).json")
    }
    try Self.fill(path, folder.path, device: 0)
    try Self.fill(folder.path + "/other.satchel", folder.path, device: 1)
    // Both have changed the same: the first one meets what the other has sent.
    let store = try Self.open(path)
    try Self.sync(store, folder.path)
    let photos = try store.photos(in: folder.path + "/photos")
    try photos.upsert(json: [Self.photo(8, 30), Self.photo(90, 0)])
    _ = try photos.delete(MD5.list(json: [Self.photo(24, 0)["md5"] ?? .null]))
    _ = try Self.courses(store).put("c8", ["name": "Not sent yet", "teacher": "t1"])
    try store.close()
    // Rows that only other programs write.
    let raw = try RawStore(path)
    try raw.run(
      """
      INSERT INTO photo_file SELECT id, 'a.jpg', zeroblob(16), 0, 10, 20, 30, 0, 0, NULL, NULL FROM photo_catalogue;
      INSERT INTO photo_file SELECT id, 'b.jpg', zeroblob(16), 0, 10, 20, 30, 1, 0, zeroblob(16), NULL FROM photo_catalogue;
      INSERT INTO photo_index SELECT id, 'remote', 'key', 'checksum', 'etag', 'disk' FROM photo_catalogue;
      UPDATE photo_catalogue SET device = 'device';
      INSERT INTO photo_file SELECT id, 'a.mov', x'', 1, 10, 20, 30, 0, 0, NULL, zeroblob(16) FROM photo_catalogue;
      INSERT INTO conflict(subject, owner, key, kind, side, cause, time, local, remote)
        SELECT 1, catalogue, lower(hex(md5)), 2, 0, 0, 5, line, line FROM photo_base WHERE line IS NOT NULL LIMIT 1;
      INSERT INTO conflict(subject, owner, key, kind, side, cause, time, local)
        SELECT 0, id, 'c9', 2, 0, 0, 5, x'7b7d' FROM record_collection;
      UPDATE asset_source SET etag = 'etag', fetched_at = 5, retry_at = 5, error = 'offline';
      INSERT INTO asset_garbage(name) VALUES(zeroblob(32));
      INSERT INTO asset_transfer(asset, file) SELECT max(id), '0123456789abcdef0123456789abcdef' FROM asset;
      INSERT INTO asset_transfer SELECT -max(id), 'f123456789abcdef0123456789abcdef', '"1"' FROM asset_source;
      INSERT INTO asset_sweep(id, swept_at) VALUES(1, 5);
      UPDATE refresh SET fresh_for = 5, owner = 'boot 1 2 3';
      UPDATE region SET downloaded_at = 5;
      INSERT INTO region_item SELECT id, '{"country_code":"cn"}', 'cuisine', 0, 5, 'offline' FROM region;
      INSERT INTO region_skip SELECT id, 1, 5 FROM region;
      """)
    try raw.settle()
    bytes = try Data(contentsOf: URL(filePath: path))
    try FileManager.default.copyItem(atPath: remote, toPath: soundRemote)
  }

  /// Copies the sound remote, so that no case meets what the cases before it have sent.
  func restoreRemote() throws {
    try FileManager.default.removeItem(atPath: remote)
    try FileManager.default.copyItem(atPath: soundRemote, toPath: remote)
  }

  static func open(_ path: String) throws -> Store {
    var options = StoreOptions()
    options.durability = .relaxed
    options.clock = Clock { start }
    return try Store(path: path, options: options)
  }

  static func story(_ name: String) -> String {
    """
    {"story_id": "\(name)", "id": "\(name)", "title": "The tale of \(name)", "synopsis": "Of a door and a key",
    "tags": ["door", "\(name)"], "segments": [
    {"id": "a", "text": "A door.", "is_authentic_path": true, "choices": [{"id": "x", "text": "Open", "next_segment_id": "b"}]},
    {"id": "b", "text": "The end.", "is_authentic_path": true, "is_ending": true, "choices": []}]}
    """
  }

  static let shanghai: JSONValue = [
    "country_code": "cn", "admin_area": "Shanghai", "locality": "Shanghai", "latitude": 31.2,
    "longitude": 121.5,
  ]
  static let beijing: JSONValue = ["country_code": "cn", "locality": "Beijing"]

  static func section(_ name: String, _ number: Int) -> JSONValue {
    func entity(_ id: String, _ scope: String, _ members: [String: JSONValue] = [:]) -> JSONValue {
      var object = JSONObject()
      object["local_name"] = .string("Name of \(id) \(number)")
      object["_storage"] = [
        "entity_id": .string(id), "scope": .string(scope), "ttl_hours": .double(Double(number + 1)),
      ]
      for (key, value) in members { object[key] = value }
      return .object(object)
    }
    return [
      "section": .string(name), "display_title": "Title", "config": ["columns": 2], "action": "replace",
      "source": "a backend",
      "content": [
        "items": [
          entity("\(name):a", "locality"),
          entity("\(name):b", "country", ["inner": entity("\(name):c", "global")]),
          ["plain": true],
        ]
      ],
    ]
  }

  static func photo(_ number: Int, _ device: Int) -> JSONValue {
    let md5 = String(format: "%x%031x", number % 16, number * 7919)
    return [
      "md5": .string(md5), "filename": .string("IMG_\(number), \(device).jpg"),
      "size": .int(Int64(1000 + number)),
      "photodate": .int(1_600_000_000 + Int64(number * 5000)), "modified": 1_600_000_000, "width": 4000,
      "height": 3000, "apple_photo_id": .string("L0/\(number)"),
    ]
  }

  static func courses(_ store: Store) throws -> RecordCollection {
    try store.records(
      "courses", indexes: [RecordIndex("name", unique: true), RecordIndex("credits")],
      relations: ["teacher": RecordRelation("teachers", onDelete: .cascade)],
      schema: ["type": "object", "required": ["name"]], version: 2,
      migrations: [.steps([try MigrationStep(json: ["remove": ["path": "old"]])])], onConflict: .ask)
  }

  static func places(_ store: Store) throws -> RecordCollection {
    try store.records("places", search: ["name", "notes"], positions: ["at"], synced: false)
  }

  /// A source that always fails.
  static var offline: FunctionSource { FunctionSource(content: { _ in throw SourceFailure("offline") }) }

  private static func fill(_ path: String, _ folder: String, device: Int) throws {
    let store = try open(path)
    for (index, place) in [shanghai, beijing].enumerated() {
      for name in ["cuisine", "sights"] {
        _ = try store.catalogue.persist(section(name, index + device), at: Location(json: place))
      }
    }
    // As many as it takes for an R*Tree of their positions.
    for number in 0..<40 {
      let place = try Location(
        latitude: 31 + Double(number) / 50, longitude: 121.5, locality: "Town", countryCode: "cn")
      _ = try store.catalogue.deliver(["location": place.json, "sections": []], complete: true)
    }
    // A search index, to which an entity changed since.
    _ = try store.catalogue.persist(section("news", device), at: Location(json: beijing))
    _ = try store.catalogue.search("name")
    _ = try store.catalogue.persist(section("news", 5 + device), at: Location(json: beijing))
    try store.catalogue.setActiveLocation(Location(json: shanghai))
    let area = RegionDefinition.Area(try Location(json: shanghai), within: 5000, level: .country)
    try store.catalogue.regions.create(
      "trip", RegionDefinition(areas: [area], sections: ["cuisine", "sights"]))

    var forced = RefreshOptions()
    forced.force = true
    try store.catalogue.refresh(Location(json: beijing), from: offline, options: forced)

    let library = try store.stories(in: folder + "/stories")
    _ = try library.refresh()
    try library.markPurchased("one")
    for number in 0..<2 {
      if let segment = try library.story("one").segment(at: number) {
        try library.move("one", to: segment.id)
      }
    }

    let photos = try store.photos(in: folder + "/photos")
    try photos.upsert(json: .array((0..<60).map { photo($0, device) }))
    let first = try MD5.list(json: [
      photo(0, 0)["md5"] ?? .null, photo(1, 0)["md5"] ?? .null, photo(2, 0)["md5"] ?? .null,
    ])
    try photos.setLocal(first[0], json: ["camera_make": "Maker", "iso": 100])
    try photos.star(first[1])
    try photos.queueBackup(first[0])
    try photos.queueBackup(first[2])
    _ = try photos.claimBackup()
    _ = try photos.importShard(
      Shard.Index.all[3], photos.exportShard(Shard.Index.all[3]) + Array("\nno photo".utf8))

    let teachers = try store.records("teachers")
    for number in 0..<4 { _ = try teachers.put("t\(number)", ["name": .string("T\(number)")]) }
    let old = try store.records("courses", version: 1)
    for number in 0..<30 {
      _ = try old.put(
        "c\(number)",
        ["name": .string("Course \(number) \(device)"), "credits": .int(Int64(number % 5)), "old": true])
    }
    let courses = try courses(store)
    for number in 0..<30 {
      _ = try courses.put(
        "c\(number)",
        [
          "name": .string("Course \(number) \(device)"), "credits": .int(Int64(number % 5)),
          "teacher": .string("t\(number % 4)"),
        ])
    }
    _ = try courses.delete("c29")

    // Indexes of texts and positions, and a record that they do not have.
    let places = try places(store)
    for number in 0...70 {
      if number == 70 {
        _ = try (places.search("place"), places.near(latitude: 1, longitude: 1, within: 1))
      }
      let position: JSONValue = ["lat": .double(Double(number)), "lon": 1.0]
      _ = try places.put(
        "p\(number)", ["name": .string("Place \(number)"), "notes": ["a", "b"], "at": position])
    }

    // Small ones, whose bytes are in the store's file: only that is copied.
    let picture = try store.assets.put(Array("a picture".utf8), type: "image/png")
    let page = try Asset(url: "https://example.com/page", type: "text/html")
    _ = try store.assets.fetch([page]) { _, writer in
      try writer.append(Array("a page".utf8))
      return .fetched()
    }
    _ = try courses.put("c4", ["name": "Pictures", "picture": picture.json, "page": page.json])
    _ = try store.assets.variant(of: picture, named: "thumb") { _ in (Array("small".utf8), "image/png") }
    try store.catalogue.declareAssets(of: "pictures", paths: ["/image"])
    _ = try store.catalogue.persist(
      ["section": "pictures", "content": ["image": "https://example.com/i", "other": picture.json]],
      at: Location(json: shanghai))

    try store.state.set("theme", "dark", synced: true)
    try store.state.set("gone", 1, synced: true)
    try store.state.set("dropped", [1])
    try store.state.remove("gone")
    try store.state.setKey(Array(repeating: 7, count: 32))
    try store.state.set("token", "secret", sensitive: true)
    let secret = try store.assets.put(Array("a secret".utf8), isSensitive: true)
    try store.state.set("passport", ["scan": secret.json])
    for number in 0..<5 {
      try store.state.list("history", limit: 10, maxAge: 1_000_000, synced: true).push(.int(Int64(number)))
    }
    _ = try store.state.set(named: "seen").add("a")
    _ = try store.state.set(named: "hidden", sensitive: true).add("b")
    try store.state.list("hidden", sensitive: true).push("c")
    try store.state.scores("hidden", sensitive: true).add("d", 0.5)
    try store.state.scores("likes", synced: true).add("tea", 0.5)
    try store.state.declare(
      StateDeclaration(
        version: 2,
        migrations: [
          .steps([
            try MigrationStep(json: ["remove": ["path": "/dropped"]]),
            try MigrationStep(json: ["default": ["path": "/size", "value": 12]]),
          ])
        ]))
    _ = try store.state.flush()
    try sync(store, folder)
    _ = try courses.put("c1", ["name": .string("Changed \(device)"), "teacher": "t1"])
    _ = try courses.delete("c2")
    try photos.upsert(json: [photo(5, device + 10)])
    try sync(store, folder)
    try photos.upsert(json: [photo(6, device + 20)])
    _ = try courses.put("c3", ["name": .string("Pending \(device)"), "teacher": "t1"])
    try store.close()
  }

  private static func sync(_ store: Store, _ folder: String) throws {
    try FileManager.default.createDirectory(atPath: folder + "/remote", withIntermediateDirectories: true)
    let remote = try DirectoryStore(path: folder + "/remote")
    let user = try UserID("ada")
    _ = try store.photos(in: folder + "/photos").sync(with: remote, user: user)
    _ = try store.sync(with: remote, user: user)
  }
}
