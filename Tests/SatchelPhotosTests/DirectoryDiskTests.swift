import SatchelCore
import SatchelStorage
import SatchelStorageTesting
import Testing

import SatchelPhotos

@Suite("Durability of importing a directory")
struct DirectoryDiskTests {
  private let disk: FaultyDisk
  private let fixture: CatalogueFixture
  private let path: String

  /// A directory with a photo in each shard, and an empty store.
  init() throws {
    disk = try FaultyDisk()
    let other = try CatalogueFixture()
    for shard in Shard.Index.all { try other.photos.upsert([CatalogueFixture.photo(1, shard: shard)]) }
    fixture = try CatalogueFixture(disk: disk)
    path = fixture.folder + "/shards"
    try other.photos.exportDirectory(path)
    // The first write creates the tables.
    try fixture.photos.upsert([CatalogueFixture.photo(1, shard: Shard.Index.all[0])])
  }

  @Test("an import of sixteen shards waits for the disk once")
  func once() throws {
    let before = disk.count(.sync)
    #expect(try fixture.photos.importDirectory(path).changed == Shard.Index.all)
    #expect(disk.count(.sync) == before + 1)
  }

  @Test("an import whose last sync of the disk fails throws, keeps the store sound, and can be repeated")
  func failsAtItsEnd() throws {
    disk.fail(.sync, at: 1)
    let error = #expect(throws: SatchelError.self) { try fixture.photos.importDirectory(path) }
    #expect(error?.code == .io)
    let before = disk.count(.sync)
    let again = try fixture.photos.importDirectory(path)
    #expect(again.changed.isEmpty && again.photos == 16)
    // Syncs what the first import could not.
    #expect(disk.count(.sync) == before + 1)
    #expect(try PhotoCatalogue.check(fixture.database) == [])
  }

  @Test("an import that stops keeps its finished shards durable")
  func failsOnItsWay() throws {
    let before = disk.count(.sync)
    disk.fail(.write, at: 100, forGood: true)
    let error = #expect(throws: SatchelError.self) { try fixture.photos.importDirectory(path) }
    #expect(error?.code == .io)
    #expect(disk.count(.sync) == before + 1)
    disk.heal()
    let again = try fixture.photos.importDirectory(path)
    #expect(again.photos == 16 && !again.changed.isEmpty && again.changed.count < 16)
    #expect(try PhotoCatalogue.check(fixture.database) == [])
  }
}
