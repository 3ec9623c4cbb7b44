import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("The order of photos by date, as the store has it")
struct DateIndexTests {
  private static let dateLists: [[Int64]] = [
    (0..<4000).map { $0 * 86_400 }, [5, 6, 7], [0], [0, Int64(UInt32.max), Int64(UInt32.max) + 1],
    [.min, 0, .max], [.min, .min + 1], [.max - 1, .max],
  ]

  private static func entries(_ count: Int, _ dates: [Int64], _ random: inout SeededRandom)
    -> [ShardContent.Entry]
  {
    (0..<count).map { CatalogueFixture.photo($0, date: random.pick(dates)) }.sorted { $0.md5 < $1.md5 }
      .map {
        ShardContent.Entry(md5: $0.md5, range: 0..<0, line: 1, photodate: $0.photodate, isCanonical: true)
      }
  }

  @Test("rows hold all photos in order, and no bucket is in two rows", arguments: dateLists)
  func rows(dates: [Int64]) {
    var random = SeededRandom(seed: 3)
    for count in [0, 1, DateRow.size - 1, DateRow.size, DateRow.size + 1, 3 * DateRow.size] {
      let entries = Self.entries(count, dates, &random)
      let rows = DateRow.rows(of: entries)
      let found = rows.flatMap { row in (0..<row.count).map { row.entry($0, of: CatalogueFixture.shard) } }
      #expect(found == entries.map { DateEntry(date: $0.photodate, md5: $0.md5) }.sorted())
      #expect(Set(rows.map(\.bucket)).count == rows.count && !rows.contains { $0.bucket == nil })
      for (row, next) in zip(rows, rows.dropFirst()) {
        #expect(row.bucket ?? 0 < DateRow.bucket(of: next.earliest))
      }
      var start: Int64 = 0
      for row in rows {
        #expect(row.start == start && row.isValid(in: Int64(count)))
        start += Int64(row.count)
      }
      #expect(start == count)
    }
  }

  @Test("the first photos of several shards are selected, with all of the last place")
  func selection() throws {
    var random = SeededRandom(seed: 4)
    for _ in 0..<200 {
      let lists = (0..<random.below(5)).map { shard in
        (0..<random.below(30)).map { _ in
          DateEntry(date: Int64(random.below(9)), place: UInt64(shard) << 32 | UInt64(random.below(4)))
        }.sorted()
      }
      for isDescending in [false, true] {
        let all = isDescending ? lists.flatMap { $0 }.sorted().reversed() : lists.flatMap { $0 }.sorted()
        let count = 1 + random.below(40)
        let sources = lists.map { list in
          var rest = isDescending ? list.reversed()[...] : list[...]
          return { () throws -> DateEntry? in rest.popFirst() }
        }
        let selection = try DateSelection(count, isDescending: isDescending, of: sources)
        var end = min(count, all.count)
        while end > 0, end < all.count, all[end] == all[end - 1] { end += 1 }
        #expect(selection.entries == Array(all[..<end]))
        #expect(selection.isComplete == (end == all.count))
      }
    }
  }

  // MARK: In a store

  /// Compares pages of both directions, counts, and a page of another handle with the sorted photos.
  private static func compare(
    _ fixture: CatalogueFixture, _ model: [MD5: Photo], _ random: inout SeededRandom
  ) throws {
    let sorted = model.values.sorted {
      ($0.photodate, $0.md5.high, $0.md5.low) < ($1.photodate, $1.md5.high, $1.md5.low)
    }
    let second = try fixture.secondStore()
    defer { try? second.close() }
    let other = try PhotoCatalogue(database: second, directory: fixture.photos.directory)
    for _ in 0..<6 {
      let bounds = [random.pick(sorted).photodate, random.pick(sorted).photodate].sorted()
      let (from, to) = (random.once(in: 3) ? nil : bounds[0], random.once(in: 3) ? nil : bounds[1])
      let wanted = sorted.filter { $0.photodate >= from ?? .min && $0.photodate <= to ?? .max }
      var query = PhotoQuery()
      (query.order, query.from, query.to) = (.photodate, from, to)
      #expect(try fixture.photos.count(query) == wanted.count)
      query.isDescending = random.once(in: 2)
      query.limit = 1 + random.below(25)
      let expected = query.isDescending ? wanted.reversed() : wanted
      var position = 0
      for number in 0..<5 where position < expected.count {
        let page = try (number % 2 == 0 ? fixture.photos : other).query(query)
        #expect(page.photos.map(\.photo) == Array(expected[position...].prefix(query.limit)))
        position += page.photos.count
        #expect((page.next == nil) == (position == expected.count))
        query.cursor = page.next
      }
    }
  }

  @Test(
    "equals a plain sort after any imports, changes and deletions", arguments: Portion.of(1...4, parts: 4))
  func property(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    let fixture = try CatalogueFixture()
    let shards = [0, 7, 15].map { Shard.Index.all[$0] }
    let dates: [Int64] =
      [(0..<50_000).map { $0 * 60 }, [3, 4, 5, 3000], (0..<700).map { $0 }, [.min, -5, 0, 5, .max]][seed - 1]
    var model: [MD5: Photo] = [:]
    func photo() -> Photo {
      CatalogueFixture.photo(random.below(3000), shard: random.pick(shards), date: random.pick(dates))
    }
    for step in 0..<14 {
      switch step == 0 ? 0 : random.below(7) {
      case 0, 1:
        // All, or one shard is imported again; few photos of it changed.
        for shard in step == 0 ? shards : [random.pick(shards)] {
          var file = model.filter { $0.key.shard == shard }
          for _ in 0..<(step == 0 ? 1300 : 1 + random.below(3)) {
            let photo = CatalogueFixture.photo(random.below(3000), shard: shard, date: random.pick(dates))
            file[photo.md5] = random.once(in: 4) ? nil : photo
          }
          try fixture.photos.importShard(shard, CatalogueFixture.file(Array(file.values)))
          model = model.filter { $0.key.shard != shard }.merging(file) { $1 }
        }
      case 2, 3:
        let batch = (0..<1 + random.below(30)).map { _ in photo() }
        try fixture.photos.upsert(batch)
        for photo in batch { model[photo.md5] = photo }
      case 4:
        let first = model.values.sorted { $0.photodate < $1.photodate }.prefix(1 + random.below(60)).map(
          \.md5)
        try fixture.photos.delete(first)
        for md5 in first { model[md5] = nil }
      case 5: try fixture.photos.uploadAll()
      default: try fixture.reopen()
      }
      try Self.compare(fixture, model, &random)
    }
    #expect(try PhotoCatalogue.check(fixture.database) == [])
  }

  @Test("photos of one place, in pages that end between them")
  func onePlace() throws {
    let fixture = try CatalogueFixture()
    let crowd = (0..<300).map { number in
      var photo = CatalogueFixture.photo(number, date: Int64(number % 3))
      photo.md5 = MD5(high: 5 << 60 | 77 << 28 | UInt64(number / 100), low: UInt64(number))
      return photo
    }
    let all = crowd + (0..<4000).map { CatalogueFixture.photo($0, date: 2 + Int64($0)) }
    try fixture.photos.importShard(CatalogueFixture.shard, CatalogueFixture.file(all))
    for photo in all { #expect(try fixture.photos.photo(photo.md5)?.photo == photo) }
    var model = Dictionary(uniqueKeysWithValues: all.map { ($0.md5, $0) })
    var random = SeededRandom(seed: 9)
    for _ in 0..<4 {
      try Self.compare(fixture, model, &random)
      let gone = Array(model.keys.filter { $0.place == crowd[0].md5.place }.sorted().prefix(40))
      try fixture.photos.delete(gone)
      for md5 in gone { model[md5] = nil }
      try fixture.photos.uploadAll()
    }
    #expect(try PhotoCatalogue.check(fixture.database) == [])
  }

  @Test(
    "where it is damaged, pages are right all the same",
    arguments: [
      "DELETE FROM photo_date", "DELETE FROM photo_date WHERE start = 0",
      "DELETE FROM photo_date WHERE start > 700 AND start < 1200",
      "DELETE FROM photo_date WHERE start >= 1500", "UPDATE photo_date SET start = start + 1",
      "UPDATE photo_date SET start = 9223372036854775807", "UPDATE photo_date SET earliest = earliest + 1",
      "UPDATE photo_date SET earliest = 9223372036854775807", "UPDATE photo_date SET is_wide = 1",
      "UPDATE photo_date SET photos = substr(photos, 1, 80)", "UPDATE photo_date SET photos = x'00'",
      "UPDATE photo_date SET photos = zeroblob(length(photos))",
      "UPDATE photo_date SET id = id + 1", "UPDATE photo_date SET id = id + (1 << 40)",
    ])
  func damage(sql: String) throws {
    let fixture = try CatalogueFixture()
    var random = SeededRandom(seed: 6)
    let all = (0..<2000).map { CatalogueFixture.photo($0, date: Int64(random.below(1_000_000))) }
    try fixture.photos.importShard(CatalogueFixture.shard, CatalogueFixture.file(all))
    try fixture.execute(sql)
    #expect(try !PhotoCatalogue.check(fixture.database).isEmpty)
    let sorted = all.sorted {
      ($0.photodate, $0.md5.high, $0.md5.low) < ($1.photodate, $1.md5.high, $1.md5.low)
    }
    for isDescending in [false, true] {
      var query = PhotoQuery()
      (query.order, query.limit, query.isDescending) = (.photodate, 20, isDescending)
      for (from, to) in [(nil, nil), (sorted[990].photodate, nil), (nil, sorted[1010].photodate)]
        as [(Int64?, Int64?)]
      {
        (query.from, query.to) = (from, to)
        let wanted = sorted.filter { $0.photodate >= from ?? .min && $0.photodate <= to ?? .max }
        #expect(
          try fixture.photos.query(query).photos.map(\.photo)
            == Array((isDescending ? wanted.reversed() : wanted).prefix(20)))
      }
    }
    // Importing a file writes it again.
    try fixture.photos.importShard(CatalogueFixture.shard, CatalogueFixture.file(Array(all.dropLast())))
    if !sql.contains("1 << 40") { #expect(try PhotoCatalogue.check(fixture.database) == []) }
  }
}
