import Foundation
import SatchelCore
import SatchelJSON
import SatchelStorage
import Testing

import SatchelDocuments
import SatchelRecords

/// A disk of which, once it is broken, every write, sync or rename from the n-th call on fails. Half of the bytes of the
/// write that fails first are written.
private final class BrokenDisk: Sendable {
  private let state = Locked<(left: Int?, code: Int32, isBroken: Bool)>((nil, 0, false))

  func fail(after count: Int, _ code: Int32) { state.withLock { $0 = (count, code, false) } }
  func mend() { state.withLock { $0 = (nil, 0, false) } }
  var isBroken: Bool { state.withLock { $0.isBroken } }

  /// Returns the error of a call, and whether it is the first that fails; nil when it succeeds.
  private func failure() -> (code: Int32, isFirst: Bool)? {
    state.withLock { state in
      guard let left = state.left else { return nil }
      if left > 0 {
        state.left = left - 1
        return nil
      }
      let isFirst = !state.isBroken
      state.isBroken = true
      return (state.code, isFirst)
    }
  }

  var calls: FileCalls {
    var calls = FileCalls.system
    calls.write = { [self] file, bytes, offset in
      guard let error = failure() else { return FileCalls.system.write(file, bytes, offset) }
      if error.isFirst, bytes.count > 1 {
        return FileCalls.system.write(
          file, UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]), offset)
      }
      errno = error.code
      return -1
    }
    calls.sync = { [self] file in
      guard let error = failure() else { return FileCalls.system.sync(file) }
      errno = error.code
      return -1
    }
    calls.rename = { [self] old, new in
      guard let error = failure() else { return FileCalls.system.rename(old, new) }
      errno = error.code
      return -1
    }
    return calls
  }
}

@Suite("Mirrors on a disk that fails")
struct MirrorFaultTests {
  enum Format: CaseIterable, Sendable { case plain, array, checksummed }

  private func format(_ format: Format) -> MirrorFormat {
    switch format {
    case .plain: .plain()
    case .array: .plain(idMember: "id")
    case .checksummed: .checksummed
    }
  }

  /// A collection of 40 records, and its mirror.
  private func filled(
    _ disk: BrokenDisk, _ format: Format, _ mode: MirrorMode
  ) throws -> (shelf: RecordShelf, courses: RecordCollection, path: String) {
    let shelf = try RecordShelf(onDisk: true, calls: disk.calls)
    let courses = try shelf.collection("courses")
    for number in 0..<40 { try courses.put("c\(number)", ["n": .int(Int64(number))]) }
    let path = try #require(shelf.directory).path + "/courses.json"
    try courses.mirror(path, format: self.format(format), mode: mode)
    try shelf.store.completeMirrors()
    return (shelf, courses, path)
  }

  private func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
  }

  /// Runs `body` with each number of calls that succeed before the disk fails, until the disk does not fail any more.
  ///
  /// - Parameter body: returns whether it did
  /// - Returns: in how many places it failed
  private func sweep(_ disk: BrokenDisk, _ code: Int32, _ body: (Int) throws -> Bool) throws -> Int {
    for count in 0..<100 {
      disk.fail(after: count, code)
      let wasBroken = try body(count)
      disk.mend()
      if !wasBroken { return count }
    }
    Issue.record("fails always")
    return 100
  }

  @Test(
    "after a commit, the old file stays whole, the put is in the store, and flush reports the failure",
    arguments: Format.allCases,
    [(ENOSPC, SatchelError.Code.full), (EDQUOT, .full), (EIO, .io), (EROFS, .readOnly)])
  func storeFirst(format: Format, fault: (Int32, SatchelError.Code)) throws {
    let disk = BrokenDisk()
    let (shelf, courses, path) = try filled(disk, format, .storeFirst)
    let failures = try sweep(disk, fault.0) { count in
      let old = try text(path)
      let id = "new-\(count)"
      try courses.put(id, ["n": .int(Int64(count))])
      let error: SatchelError?
      do {
        try shelf.store.completeMirrors()
        error = nil
      } catch let failure as SatchelError {
        error = failure
      }
      let wasBroken = disk.isBroken
      #expect(error?.code == (wasBroken ? fault.1 : nil), "\(count): \(error?.message ?? "no error")")
      #expect(try shelf.another().collection("courses").get(id) != nil)
      let new = try text(path)
      // The sync of the directory comes after the rename.
      #expect(new == old || new.contains(id), "\(count)")
      #expect(try JSONValue(parsing: Array(new.utf8)).depth > 1)
      disk.mend()
      try shelf.store.completeMirrors()
      #expect(try text(path).contains(id))
      #expect(try courses.verifyMirror().isEmpty)
      return wasBroken
    }
    // A write, a sync, a rename and a sync of the directory.
    #expect(failures >= 4)
    let names = try FileManager.default.contentsOfDirectory(atPath: try #require(shelf.directory).path)
    #expect(names.filter { $0.hasPrefix("courses.json") } == ["courses.json"])
    try shelf.expectSound()
  }

  @Test(
    "before a commit, the put fails or is spooled, and nothing that was acknowledged is lost",
    arguments: Format.allCases, [ENOSPC, EIO])
  func fileFirst(format: Format, code: Int32) throws {
    let disk = BrokenDisk()
    let (shelf, courses, path) = try filled(disk, format, .fileFirst)
    let failures = try sweep(disk, code) { count in
      let old = try text(path)
      let id = "new-\(count)"
      let receipt: RecordReceipt?
      do {
        receipt = try courses.put(id, ["n": .int(Int64(count))])
      } catch let error as SatchelError {
        #expect([.full, .io].contains(error.code), "\(error)")
        receipt = nil
      }
      let wasBroken = disk.isBroken
      let isCommitted = try shelf.another().collection("courses").get(id) != nil
      #expect(isCommitted == (receipt.map { $0.revision > 0 } ?? false), "\(count)")
      let new = try text(path)
      // Where only the sync of the directory failed, a second attempt finds the file as it must be.
      #expect(isCommitted ? !wasBroken || new.contains(id) : wasBroken, "\(count)")
      #expect(new == old || new.contains(id), "\(count)")
      #expect(try JSONValue(parsing: Array(new.utf8)).depth > 1)
      disk.mend()
      // Drains what was spooled, and writes the file.
      try courses.put("later-\(count)", [:])
      #expect(try (courses.get(id) != nil) == (receipt != nil), "\(count)")
      #expect(try courses.verifyMirror().isEmpty, "\(count)")
      #expect(try text(path).contains(id) == (receipt != nil), "\(count)")
      return wasBroken
    }
    #expect(failures >= 4)
    try shelf.expectSound()
  }
}
