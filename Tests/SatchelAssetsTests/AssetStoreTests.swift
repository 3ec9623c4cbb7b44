import Foundation
import Satchel
import SatchelTesting
import Testing

@testable import SatchelAssets

struct AssetStoreTests {
  @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 300_000, 1 << 20])
  func `bytes that were put are read again`(count: Int) throws {
    let fixture = try AssetFixture()
    let bytes = AssetFixture.bytes(count)
    var asset = Asset(nil)
    do {
      let store = try fixture.open()
      asset = try store.assets.put(bytes, type: "image/jpeg")
      #expect(asset.size == Int64(count) && asset.type == "image/jpeg")
    }
    let store = try fixture.open()
    #expect(try store.assets.bytes(of: asset) == bytes)
    #expect(try store.assets.state(of: asset) == .here)
    let reader = try store.assets.open(asset, verifying: true)
    #expect(try (reader.path != nil) == (count > 65_536))
    #expect(fixture.files().count == (count > 65_536 ? 1 : 0))
    #expect(try reader.read(10, at: Int64(max(0, count - 5))) == Array(bytes.suffix(5)))
    #expect(try reader.read(10, at: Int64(count) + 5) == [])
    #expect(code { _ = try reader.read(1, at: -1) } == .invalid)
    #expect(code { _ = try reader.read(-1, at: 0) } == .invalid)
    #expect(try store.check() == [])
  }

  @Test func `the same bytes are stored once`() throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let bytes = AssetFixture.bytes(200_000)
    let file = fixture.directory.path + "/picture.jpg"
    try Data(bytes).write(to: URL(filePath: file))
    let first = try store.assets.put(bytes)
    #expect(try store.assets.put(contentsOf: file) == first)
    #expect(
      try store.assets.put { writer in
        for part in stride(from: 0, to: bytes.count, by: 999) {
          try writer.append(Array(bytes[part..<min(part + 999, bytes.count)]))
        }
      } == first)
    #expect(fixture.files().count == 1)
    #expect(try store.assets.list().assets.count == 1)
  }

  @Test func `a put that fails leaves nothing`() throws {
    struct Stop: Error {}
    let fixture = try AssetFixture()
    let store = try fixture.open()
    #expect(throws: Stop.self) {
      try store.assets.put { writer in
        try writer.append(AssetFixture.bytes(100_000))
        throw Stop()
      }
    }
    #expect(
      code { try store.assets.put(maxSize: 10) { try $0.append([UInt8](repeating: 1, count: 11)) } } == .full)
    #expect(code { try store.assets.put([1], type: "") } == .invalid)
    #expect(code { try store.assets.put(contentsOf: fixture.directory.path) } == .invalid)
    #expect(code { try store.assets.put(contentsOf: fixture.directory.path + "/none") } == .notFound)
    #expect(code { try store.assets.put(contentsOf: "/dev/null") } == .invalid)
    #expect(code { try store.assets.put(contentsOf: "") } == .invalid)
    #expect(fixture.files() == [])
    #expect(try store.assets.list().assets == [])
  }

  @Test func `a rollback leaves a file that the next verification removes`() throws {
    struct Stop: Error {}
    let fixture = try AssetFixture()
    let store = try fixture.open()
    #expect(throws: Stop.self) {
      try store.batch {
        try store.assets.put(AssetFixture.bytes(100_000))
        throw Stop()
      }
    }
    #expect(fixture.files().count == 1)
    #expect(try store.assets.verify().orphans == 1)
    #expect(fixture.files() == [])
    #expect(try store.check() == [])
  }

  @Test func `a store in memory keeps all assets as rows`() throws {
    let store = try Store(path: ":memory:")
    let bytes = AssetFixture.bytes(300_000)
    let asset = try store.assets.put(bytes)
    let reader = try store.assets.open(asset)
    #expect(try reader.path == nil)
    #expect(try reader.read(bytes.count, at: 0) == bytes)
    #expect(try store.assets.prune().recent == 300_000)
    #expect(try store.assets.verify() == AssetVerifyReport(checked: 1))
  }

  @Test func `two handles and two threads put and read at once`() async throws {
    let fixture = try AssetFixture()
    let (one, two) = (try fixture.open(), try fixture.open())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, store) in [one, two, one, two].enumerated() {
        group.addTask {
          for number in 0..<20 {
            let bytes = AssetFixture.bytes(60_000 + number * 700, number)
            let asset = try store.assets.put(bytes)
            #expect(try store.assets.bytes(of: asset) == bytes)
            if index == 0, number % 5 == 0 { try store.assets.prune() }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try one.assets.list().assets.count == 20)
    #expect(try two.assets.verify().damaged == [])
  }

  @Test func `a reader goes on while its asset is removed, and its file is deleted`() throws {
    let fixture = try AssetFixture()
    let (store, other) = (try fixture.open(), try fixture.open())
    let bytes = AssetFixture.bytes(100_000)
    let reader = try other.assets.open(store.assets.put(bytes))
    fixture.time.pass(hours: 2)
    let report = try store.assets.prune()
    #expect(report.removed == 1 && report.waitingFiles == 0)
    #expect(fixture.files() == [])
    #expect(try reader.read(10, at: 99_990) == Array(bytes.suffix(10)))
    let error = #expect(throws: SatchelError.self) { try reader.path }
    #expect(error?.code == .notFound)
  }

  @Test func `a reader whose path is used keeps its file while the asset is removed`() throws {
    let fixture = try AssetFixture()
    let (store, other) = (try fixture.open(), try fixture.open())
    let bytes = AssetFixture.bytes(100_000)
    let asset = try store.assets.put(bytes)
    var reader: AssetReader? = try other.assets.open(asset)
    let path = try #require(try reader?.path)
    try other.close()
    fixture.time.pass(hours: 2)
    let report = try store.assets.prune()
    #expect(report.removed == 1 && report.waitingFiles == 1)
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(try reader?.path == path)
    #expect(try reader?.read(10, at: 99_990) == Array(bytes.suffix(10)))
    reader = nil
    #expect(try store.assets.prune().waitingFiles == 0)
    #expect(fixture.files() == [])
  }

  @Test func `a file that is put again while it waits to be deleted stays`() throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let bytes = AssetFixture.bytes(100_000)
    let asset = try store.assets.put(bytes)
    var reader: AssetReader? = try store.assets.open(asset)
    #expect(try reader?.path != nil)
    fixture.time.pass(hours: 2)
    #expect(try store.assets.prune().waitingFiles == 1)
    try store.assets.put(bytes)
    reader = nil
    fixture.time.pass(hours: -1)
    try store.assets.prune()
    #expect(try store.assets.bytes(of: asset) == bytes)
    _ = reader
  }

  @Test func `lists have pages`() throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    for number in 0..<25 { try store.assets.put(AssetFixture.bytes(10, number)) }
    var (found, cursor) = (0, String?.none)
    repeat {
      let page = try store.assets.list(unused: true, after: cursor, limit: 10)
      found += page.assets.count
      cursor = page.cursor
    } while cursor != nil
    #expect(found == 25)
    #expect(try store.assets.list(state: .missing) == AssetPage(assets: [], cursor: nil))
    #expect(code { _ = try store.assets.list(after: "x") } == .invalid)
    #expect(code { _ = try store.assets.list(limit: 0) } == .invalid)
  }

  @Test func `a lost and a damaged file are found, and marked`() throws {
    let fixture = try AssetFixture()
    let store = try fixture.open()
    let (lost, damaged) = (
      try store.assets.put(AssetFixture.bytes(100_000, 1)),
      try store.assets.put(AssetFixture.bytes(100_000, 2))
    )
    let folder = AssetFolder(of: store.database.realPath)
    try FileManager.default.removeItem(atPath: folder.path(of: try #require(lost.digest)))
    let handle = try FileHandle(forWritingTo: URL(filePath: folder.path(of: try #require(damaged.digest))))
    try handle.seek(toOffset: 5)
    try handle.write(contentsOf: Data([1, 2, 3, 4, 5, 6, 7, 8]))
    try handle.close()
    #expect(code { _ = try store.assets.open(lost) } == .damaged)
    #expect(code { _ = try store.assets.open(damaged, verifying: true) } == .damaged)
    #expect(try store.check().map(\.code) == ["asset"])
    let report = try store.assets.verify()
    #expect(report.lost == [lost.sha256] && report.damaged == [damaged.sha256])
    #expect(try store.assets.state(of: lost) == .missing)
    #expect(try store.check() == [])
    try store.assets.put(AssetFixture.bytes(100_000, 1))
    #expect(try store.assets.state(of: lost) == .here)
  }

  @Test func `links and other things in the folder are not followed`() throws {
    let fixture = try AssetFixture()
    let outside = fixture.directory.path + "/outside"
    let bytes = AssetFixture.bytes(100_000)
    try Data(bytes).write(to: URL(filePath: outside))
    var asset = Asset(nil)
    do {
      let store = try fixture.open()
      asset = try store.assets.put(bytes)
    }
    let file = fixture.path + ".assets/" + fixture.files()[0]
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: outside)
    let store = try fixture.open()
    #expect(code { _ = try store.assets.open(asset) } != nil)
    #expect(try store.assets.verify().damaged == [asset.sha256])
    #expect(FileManager.default.fileExists(atPath: outside))
    // The whole folder as a link.
    try store.close()
    let folder = fixture.path + ".assets"
    try FileManager.default.moveItem(atPath: folder, toPath: fixture.directory.path + "/elsewhere")
    try FileManager.default.createSymbolicLink(
      atPath: folder, withDestinationPath: fixture.directory.path + "/elsewhere")
    let other = try fixture.open()
    #expect(code { try other.assets.put(bytes) } == .invalid)
  }

  @Test func `a store that is opened for reading only changes nothing`() throws {
    let fixture = try AssetFixture()
    let asset = try fixture.open().assets.put(AssetFixture.bytes(100_000))
    let store = try fixture.open { $0.isReadOnly = true }
    #expect(try store.assets.bytes(of: asset).count == 100_000)
    #expect(code { try store.assets.put([1]) } == .readOnly)
    #expect(code { try store.assets.prune() } == .readOnly)
    #expect(try store.assets.verify().checked == 1)
  }
}
