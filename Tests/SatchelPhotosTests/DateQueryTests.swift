import SatchelCore
import SatchelStorage
import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Queries by date")
struct DateQueryTests {
  private let fixture: CatalogueFixture
  private var photos: PhotoCatalogue { fixture.photos }

  init() throws { fixture = try CatalogueFixture() }

  /// Imports photos as files of their shards.
  private func importAll(_ all: [Photo]) throws {
    for (shard, photos) in Dictionary(grouping: all, by: \.md5.shard) {
      try self.photos.importShard(shard, CatalogueFixture.file(photos))
    }
  }

  /// Photos of three shards, with dates out of a list.
  private func some(_ count: Int, _ random: inout SeededRandom, _ dates: [Int64]) -> [Photo] {
    (0..<count).map { number in
      CatalogueFixture.photo(number, shard: Shard.Index.all[number % 3 * 7], date: random.pick(dates))
    }
  }

  private func sorted(_ all: some Sequence<Photo>) -> [Photo] {
    all.sorted { ($0.photodate, $0.md5.high, $0.md5.low) < ($1.photodate, $1.md5.high, $1.md5.low) }
  }

  /// Compares pages, counts and both directions with the expected photos.
  private func expect(_ all: [Photo], _ ranges: [(Int64?, Int64?)]) throws {
    for (from, to) in ranges {
      let wanted = sorted(all.filter { $0.photodate >= from ?? .min && $0.photodate <= to ?? .max })
      for page in [1, 7, 97, 5000] where wanted.count < page * 60 {
        #expect(try photos.byDate(from: from, to: to, page: page) == wanted)
        #expect(try photos.byDate(from: from, to: to, isDescending: true, page: page) == wanted.reversed())
      }
      var query = PhotoQuery()
      (query.from, query.to) = (from, to)
      #expect(try photos.count(query) == wanted.count)
    }
    #expect(try PhotoCatalogue.check(fixture.database) == [])
  }

  private static let dateLists: [[Int64]] = [
    (0..<4000).map { $0 * 1000 },
    // Many at once, so that pages end in the middle of a date.
    [5, 6, 7], [0], [-1, 0, 1],
    // Too far apart for four bytes.
    [0, Int64(UInt32.max), Int64(UInt32.max) + 1, -1_000_000], [.min, 0, .max], [.min, .min + 1, .min + 2],
    [.max - 2, .max - 1, .max],
  ]

  @Test("equal the sorted list of all photos", arguments: Portion.of(dateLists, parts: 8))
  func model(dates: [Int64]) throws {
    var random = SeededRandom(seed: 11)
    var all = some(700, &random, dates)
    try importAll(all)
    let (low, high) = (dates[dates.count / 3], dates[dates.count * 2 / 3])
    let ranges: [(Int64?, Int64?)] = [(nil, nil), (low, nil), (nil, high), (low, high), (low, low), (1, 0)]
    try expect(all, ranges)
    // Changes hide rows of the base, also the first ones.
    let first = sorted(all)
    try photos.delete((first.prefix(40) + first.suffix(40)).map(\.md5))
    let gone = Set((first.prefix(40) + first.suffix(40)).map(\.md5))
    all.removeAll { gone.contains($0.md5) }
    for index in stride(from: 0, to: all.count, by: 9) { all[index].photodate = random.pick(dates) }
    let new = (2000..<2100).map { CatalogueFixture.photo($0, date: random.pick(dates)) }
    try photos.upsert(stride(from: 0, to: all.count, by: 9).map { all[$0] } + new)
    all += new
    try expect(all, ranges)
    try fixture.reopen()
    try expect(all, ranges)
    try importAll(all)
    try expect(all, ranges)
  }

  @Test("with other filters, too")
  func filters() throws {
    var random = SeededRandom(seed: 7)
    let all = some(2000, &random, (0..<500).map { $0 })
    try importAll(all)
    let starred = (0..<60).map { _ in random.pick(all) }
    for photo in starred { try photos.star(photo.md5) }
    var query = PhotoQuery()
    (query.order, query.isStarred, query.from) = (.photodate, true, 100)
    let unique = Dictionary(starred.map { ($0.md5, $0) }, uniquingKeysWith: { $1 }).values
    #expect(try photos.all(query, page: 7) == sorted(unique.filter { $0.photodate >= 100 }))
    #expect(try photos.count(query) == unique.count { $0.photodate >= 100 })
  }
}
