import SatchelCore
import SatchelStorage

/// The catalogue's directory, held open during a scan.
final class PhotoRoot: Sendable {
  let file: OpenFile
  let stamp: FileStamp

  /// - Parameter path: a real path
  /// - Throws: `SatchelError` `.notFound`, `.invalid` when it is not a directory, `.io`
  init(_ path: String) throws {
    let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let code = errno
    guard number >= 0 else {
      let status: SatchelError.Code = code == ENOENT ? .notFound : code == ENOTDIR ? .invalid : .io
      throw SatchelError(status, "\(path): \(String(cString: strerror(code)))")
    }
    let file = OpenFile(number)
    do {
      stamp = try file.stamp()
    } catch {
      throw SatchelError(.io, "\(path): \(error.reason)")
    }
    self.file = file
  }

  /// Whether the directory has no visible item any more, as the folder of a disk that was unmounted.
  func isEmpty() throws(OpenFile.Fault) -> Bool { try DirectoryListing(of: file.number).items.isEmpty }
}

/// Opens directories of a tree, each relative to the nearest open one. Holds only one open, so that neither
/// the depth of the tree nor the length of its paths is limited; and opens each component without following
/// links, so that a scan never leaves the tree, even when others modify it.
struct DirectoryCursor: ~Copyable {
  private let root: PhotoRoot
  private var current: OpenFile?
  private var directory = 0

  init(_ root: PhotoRoot) { self.root = root }

  /// Opens a directory.
  ///
  /// - Returns: its descriptor, valid until the next call
  mutating func enter(_ target: Int, of tree: PhotoTree) throws(OpenFile.Fault) -> Int32 {
    if target == 0 { return root.file.number }
    if target == directory, let number = number { return number }
    let (path, isFromHere) = tree.path(to: target, from: number == nil ? 0 : directory)
    if !isFromHere { leave() }
    for index in path {
      do throws(OpenFile.Fault) {
        let next = try OpenFile.directory(tree.directories[index].name, in: number ?? root.file.number)
        current = consume next
        directory = index
      } catch {
        leave()
        throw error
      }
    }
    return number ?? root.file.number
  }

  private var number: Int32? {
    switch current {
    case .some(let file): file.number
    case .none: nil
    }
  }

  private mutating func leave() {
    current = nil
    directory = 0
  }
}
