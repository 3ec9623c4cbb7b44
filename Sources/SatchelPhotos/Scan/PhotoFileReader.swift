import SatchelCore
import SatchelStorage

/// Reads files of a tree, one after the other: their MD5, and their metadata.
struct PhotoFileReader: ~Copyable {
  /// The size of a read, and of the head that is parsed from memory; the metadata of some formats is at other offsets,
  /// where it is read.
  static let headSize = 1 << 20

  private let tree: PhotoTree
  private let zone: PhotoTimeZone
  private let readsOutside: Bool
  private var cursor: DirectoryCursor
  private var buffer: [UInt8] = []

  init(_ tree: PhotoTree, in root: PhotoRoot, options: ScanOptions = ScanOptions()) {
    self.tree = tree
    zone = options.timeZone
    readsOutside = !options.embeddedDatesOnly
    cursor = DirectoryCursor(root)
  }

  /// Reads a file.
  ///
  /// - Parameter shouldContinue: called with the size of each part that was read; false cancels
  /// - Returns: nil when cancelled
  mutating func read(_ entry: PhotoEntry, _ shouldContinue: (Int) -> Bool) throws(OpenFile.Fault)
    -> ScannedPhoto?
  {
    let file = try OpenFile.file(entry.name, in: cursor.enter(entry.directory, of: tree))
    let before = try file.stamp()
    guard before.kind == .file else { throw .special }
    guard before.size > 0 else { throw .empty }
    if before.isRecent, file.isBeingWritten { throw .writing }
    Self.waitForClockTick(after: before)
    // One byte more than the file's size, so that a file that grew is detected.
    let capacity = before.size < Int64(Self.headSize) ? Int(before.size) + 1 : Self.headSize
    if buffer.count < capacity { buffer = [UInt8](repeating: 0, count: capacity) }
    var hash = MD5Hash()
    var facts: ImageFacts?
    var total: Int64 = 0
    while true {
      let count = try fill(capacity, from: file, at: total)
      buffer.withUnsafeBytes { buffer in
        let part = UnsafeRawBufferPointer(rebasing: buffer.prefix(count))
        hash.update(part)
        guard facts == nil else { return }
        facts = ImageFacts(head: part, file: (file.number, before.size), name: entry.name, zone: zone)
      }
      total += Int64(count)
      guard shouldContinue(count) else { return nil }
      if count < capacity || total > before.size { break }
    }
    guard total == before.size, var facts, try file.stamp() == before else {
      throw OpenFile.Fault("changed while it was read")
    }
    if readsOutside {
      let directory = try cursor.enter(entry.directory, of: tree)
      facts.readOutside(name: entry.name) { try? OpenFile.file($0, in: directory).bytes(1 << 20) }
    }
    return ScannedPhoto(
      md5: hash.digest(), size: total, modified: before.modified, changed: before.changed,
      modifiedSeconds: before.modifiedSeconds,
      facts: facts)
  }

  /// Reads into the buffer until it has `capacity` bytes or the file ends.
  private mutating func fill(
    _ capacity: Int, from file: borrowing OpenFile, at offset: Int64
  ) throws(OpenFile.Fault) -> Int {
    var count = 0
    while count < capacity {
      let got = buffer.withUnsafeMutableBytes { bytes in
        pread(
          file.number, bytes.baseAddress?.advanced(by: count), capacity - count,
          off_t(offset) + off_t(count))
      }
      if got < 0 {
        if errno == EINTR { continue }
        throw OpenFile.Fault(errno: errno)
      }
      if got == 0 { break }
      count += got
    }
    return count
  }

  /// Waits until the file system's clock has moved past a file's modification. It ticks in steps of some
  /// milliseconds: a file that is read within the step of its last change could change again with the same
  /// time.
  private static func waitForClockTick(after stamp: FileStamp) {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let now = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    let age = now.partialValue.addingReportingOverflow(Int64(time.tv_nsec)).partialValue
      .subtractingReportingOverflow(stamp.modified)
    if !now.overflow, !age.overflow, (0..<10_000_000).contains(age.partialValue) { usleep(10_000) }
  }
}

/// A file that was read.
struct ScannedPhoto: Sendable, Equatable {
  var md5: MD5
  var size: Int64
  /// When it was read: Unix nanoseconds, as is `changed`.
  var modified: Int64
  var changed: Int64
  /// Unix seconds.
  var modifiedSeconds: Int64
  var facts: ImageFacts

  /// Unix seconds.
  var photodate: Int64 { facts.date ?? modifiedSeconds }

  /// Returns the file's row.
  func file(_ path: [UInt8], isHidden: Bool) -> KnownFile {
    KnownFile(path: path, md5: md5, size: size, modified: modified, changed: changed, isHidden: isHidden)
  }

  /// Returns the photo's row of the catalogue.
  ///
  /// - Parameter name: the file's name, without its directory
  func photo(named name: String) -> Photo {
    Photo(
      md5: md5, filename: name, size: size, photodate: photodate,
      modified: modifiedSeconds,
      width: facts.width, height: facts.height)
  }
}

/// Threads that read the files of a scan in parallel, and return the results in the files' order.
struct PhotoReaders {
  typealias Outcome = Result<ScannedPhoto, OpenFile.Fault>

  /// The maximum number of waiting results.
  private static let ahead = 2000

  let files: ReadAhead<PhotoEntry, Outcome>
  private let bytes: Locked<Int64>

  /// Starts to read.
  ///
  /// - Parameter parallel: the number of threads
  /// - Throws: `.noMemory` when no thread can be started
  init(_ files: [PhotoEntry], parallel: Int, _ makeReader: @escaping @Sendable () -> PhotoFileReader) throws {
    let bytes = Locked<Int64>(0)
    self.bytes = bytes
    self.files = ReadAhead(files, ahead: Self.ahead, threads: parallel) { files in
      var reader = makeReader()
      while let (index, file) = files.next() {
        let outcome: Outcome
        do throws(OpenFile.Fault) {
          let photo = try reader.read(file) { read in
            bytes.withLock { $0 += Int64(read) }
            return !files.isStopped
          }
          guard let photo else { return }
          outcome = .success(photo)
        } catch {
          outcome = .failure(error)
        }
        files.finish(outcome, at: index)
      }
    }
    if !files.isEmpty, !self.files.isRunning {
      throw SatchelError(.noMemory, "no thread can be started to read files")
    }
  }

  /// The numbers of files and bytes that were read.
  var done: (files: Int, bytes: Int64) { (files.done, bytes.withLock { $0 }) }
}
