import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Queries of a catalogue") struct CatalogueQueryTests {
  let fixture: CatalogueFixture
  let expected: [PhotoDetails]
  var photos: PhotoCatalogue { fixture.photos }

  /// Photos in bases, changes and imports, with stars and backups.
  init() throws {
    fixture = try CatalogueFixture()
    var random = SeededRandom(seed: 11)
    var all: [MD5: Photo] = [:]
    func photo(_ number: Int) -> Photo {
      let shard = Shard.Index.all[number % 3 * 7]
      let name = random.pick(["IMG_1.jpg", "img_1.jpg", "Été 2.heic", "a*b", "x \"y\".png", "東京.jpg"])
      return CatalogueFixture.photo(number, shard: shard, name: name, date: Int64(random.below(100)) - 50)
    }
    for number in 0..<600 {
      let photo = photo(number)
      all[photo.md5] = photo
    }
    for shard in Shard.Index.all {
      try fixture.photos.download(
        shard, CatalogueFixture.file(Array(all.values.filter { $0.md5.shard == shard })))
    }
    let changed = (500..<700).map { photo($0) }
    try fixture.photos.upsert(changed)
    for photo in changed { all[photo.md5] = photo }
    let gone = Array(all.keys.sorted().prefix(40))
    try fixture.photos.delete(gone)
    for md5 in gone { all[md5] = nil }
    let last = Shard.Index.all[14]
    let kept = all.values.filter { $0.md5.shard == last }.sorted { $0.md5 < $1.md5 }.dropLast(20)
    try fixture.photos.importShard(last, CatalogueFixture.file(Array(kept)))
    for md5 in all.keys where md5.shard == last && !kept.contains(where: { $0.md5 == md5 }) { all[md5] = nil }
    for md5 in all.keys.sorted() where random.once(in: 4) {
      try fixture.photos.star(md5, random.once(in: 2))
      if random.once(in: 3) { _ = try fixture.photos.claimBackup() }
    }
    var details: [PhotoDetails] = []
    for md5 in all.keys.sorted() {
      let found = try #require(try fixture.photos.photo(md5))
      #expect(found.photo == all[md5])
      details.append(found)
    }
    expected = details
  }

  private func select(_ query: PhotoQuery, _ pattern: (String) -> Bool) -> [PhotoDetails] {
    let found = expected.filter { details in
      let photo = details.photo
      if let from = query.from, photo.photodate < from { return false }
      if let to = query.to, photo.photodate > to { return false }
      if query.filename != nil, !pattern(photo.filename) { return false }
      if let isStarred = query.isStarred, details.isStarred != isStarred { return false }
      if let backup = query.backup, details.backup != backup { return false }
      return query.shard == nil || photo.md5.shard == query.shard
    }
    let sorted = found.sorted { left, right in
      switch query.order {
      case .photodate where left.photo.photodate != right.photo.photodate:
        return left.photo.photodate < right.photo.photodate
      case .filename where left.photo.filename != right.photo.filename:
        return left.photo.filename.utf8.lexicographicallyPrecedes(right.photo.filename.utf8)
      default: return left.md5 < right.md5
      }
    }
    return query.isDescending ? sorted.reversed() : sorted
  }

  @Test(
    "pages equal the filtered and sorted list of all photos, in every order", arguments: Portion.of(0..<60))
  func pages(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    var query = PhotoQuery()
    query.order = random.pick(PhotoQuery.Order.allCases)
    query.isDescending = random.once(in: 2)
    if random.once(in: 3) { query.from = Int64(random.below(120)) - 60 }
    if random.once(in: 3) { query.to = Int64(random.below(120)) - 60 }
    if random.once(in: 3) { query.isStarred = random.once(in: 2) }
    if random.once(in: 4) { query.backup = random.pick(BackupStatus.allCases) }
    if random.once(in: 3) { query.shard = random.pick(Shard.Index.all) }
    let patterns: [(String, (String) -> Bool)] = [
      ("IMG_1.jpg", { $0 == "IMG_1.jpg" }), ("*.jpg", { $0.hasSuffix(".jpg") }),
      ("??.jpg", { $0 == "東京.jpg" }),
      ("a\\*b", { $0 == "a*b" }), ("*", { _ in true }), ("*\"y\"*", { $0.contains("\"y\"") }),
      ("", { _ in false }),
    ]
    let (pattern, matches) = random.pick(patterns)
    if random.once(in: 2) { query.filename = pattern }
    let wanted = select(query, matches)
    #expect(try photos.count(query) == Int64(wanted.count))
    query.limit = 1 + random.below(50)
    var found: [PhotoDetails] = []
    repeat {
      let page = try photos.query(query)
      #expect(page.photos.count <= query.limit)
      found += page.photos
      query.cursor = page.next
    } while query.cursor != nil && found.count <= expected.count
    #expect(found == wanted)
  }

  @Test(
    "invalid cursors and limits are rejected",
    arguments: [
      "", "m", "x+00", "m-0000000000000000000000000000000z", "m+00000000000000000000000000000000",
      "m-00000000000000000000000000000000x", "d-000000000000000000000000000000001",
      "d-00000000000000000000000000000000+1", "d-0000000000000000000000000000000099999999999999999999",
      "f-000000000000000000000000000000000", "f-00000000000000000000000000000000zz",
      "É-0000000000000000000000000",
      "d-00000000000000000000000000000000",
    ])
  func cursors(_ cursor: String) throws {
    for order in PhotoQuery.Order.allCases {
      var query = PhotoQuery()
      query.order = order
      query.isDescending = true
      query.cursor = cursor
      let isOfOrder = cursor == "d-000000000000000000000000000000001" && order == .photodate
      if isOfOrder { continue }
      #expect { try photos.query(query) } throws: { ($0 as? SatchelError)?.code == .invalid }
    }
    for limit in [0, -1, .min, .max] {
      var query = PhotoQuery()
      query.limit = limit
      #expect { try photos.query(query) } throws: { ($0 as? SatchelError)?.code == .invalid }
    }
  }

  @Test("the text of a page and of a photo is that of its JSON value")
  func text() throws {
    var metadata = PhotoMetadata()
    (metadata.cameraMake, metadata.latitude, metadata.iso) = ("É, \"x\"\n\\\u{1}", -1e-7, .max)
    try photos.setMetadata(expected[0].md5) { $0 = metadata }
    try photos.setMetadata(expected[1].md5) { $0.cameraModel = String(repeating: "東", count: 2000) }
    for limit in [1, 7, 100_000] {
      var query = PhotoQuery()
      query.limit = limit
      let page = try photos.query(query)
      #expect(try page.withText { Array($0) } == page.json.serialized())
      for photo in page.photos.prefix(20) {
        #expect(try photo.withText { Array($0) } == photo.json.serialized())
      }
    }
    var infinite = try #require(try photos.photo(expected[0].md5))
    infinite.metadata.aperture = .infinity
    #expect(throws: (any Error).self) { try infinite.withText { _ in } }
    #expect(
      try PhotoPage(photos: [], next: nil).withText { Array($0) }
        == PhotoPage(photos: [], next: nil).json.serialized())
  }

  @Test("looking up photos one after the other sees what another handle has changed in between")
  func otherHandle() throws {
    let second = try fixture.secondStore()
    defer { try? second.close() }
    let other = try PhotoCatalogue(database: second, directory: photos.directory)
    var photo = expected[0].photo
    for size in 0..<40 {
      for _ in 0..<12 { #expect(try photos.photo(photo.md5)?.photo.size == photo.size) }
      photo.size = Int64(size)
      switch size % 4 {
      case 0:
        try other.delete([photo.md5])
        #expect(try photos.photo(photo.md5) == nil)
        try other.upsert([photo])
      case 1:
        try other.star(photo.md5, size % 8 == 1)
        #expect(try photos.photo(photo.md5)?.isStarred == (size % 8 == 1))
        try other.upsert([photo])
      case 2: try other.importShard(photo.md5.shard, CatalogueFixture.file([photo]))
      default: try other.upsert([photo])
      }
    }
  }

  @Test(
    "patterns of names",
    arguments: [
      ("", "", true), ("", "a", false), ("*", "", true), ("**a**", "bab", true), ("a*b*c", "a--b--c", true),
      ("a*b*c", "a--b--", false), ("?", "é", true), ("??", "é", false), ("\\?", "?", true),
      ("\\?", "x", false),
      ("a\\", "a\\", true), ("*aab", "aaaaab", true), ("*.jpg", ".jpg", true), ("A", "a", false),
      ("é*", "e\u{301}.jpg", true), ("e\u{301}*", "é.jpg", true), ("?", "e\u{301}", true), ("e*", "é", false),
      ("가", "\u{1100}\u{1161}", true),
    ])
  func patterns(_ pattern: String, _ name: String, _ matches: Bool) {
    #expect(Array(name.utf8).withUnsafeBytes { FilenamePattern(pattern).matches($0) } == matches)
  }
}
