import Foundation
import Satchel
import SatchelTesting
import Synchronization
import Testing

@testable import SatchelAssets

/// A store with a clock that tests set, and bytes to put into it.
final class AssetFixture {
  let directory: TemporaryDirectory
  let path: String
  let time = TestTime()

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path + "/a.satchel"
  }

  func open(_ change: (inout StoreOptions) -> Void = { _ in }) throws -> Store {
    var options = StoreOptions()
    let time = time
    options.clock = Clock { time.now }
    change(&options)
    return try Store(path: path, options: options)
  }

  /// The files of assets, without the folder's lock.
  func files(of path: String? = nil) -> [String] {
    let folder = (path ?? self.path) + ".assets"
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.utf8.count > 32 }.sorted()
  }

  /// Bytes that no other number gives.
  static func bytes(_ count: Int, _ number: Int = 0) -> [UInt8] {
    var state = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 33)
    }
  }
}

final class TestTime: Sendable {
  private let time = Atomic<Int64>(1_790_000_000_000)

  var now: Int64 { time.load(ordering: .relaxed) }
  func pass(hours: Int64) { time.wrappingAdd(hours * 3_600_000, ordering: .relaxed) }
}

/// The code of the error that `body` throws; nil for none.
func code(_ body: () throws -> Void) -> SatchelError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? SatchelError)?.code
  }
}
