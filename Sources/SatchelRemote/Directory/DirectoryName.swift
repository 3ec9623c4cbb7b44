import SatchelStorage

/// A name in a directory.
struct DirectoryName {
  var text: String
  /// False for a name that is not UTF-8 and was mended, under which nothing can be opened.
  var isReadable: Bool

  /// All names but "." and "..", in no order.
  static func all(in directory: borrowing Descriptor) throws(ObjectStoreError) -> [DirectoryName] {
    // Opened anew, because reading moves the place in an open directory that others may be reading.
    let copy = openat(directory.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else {
      let code = errno
      if copy >= 0 { close(copy) }
      throw .system(code, "a listing")
    }
    defer { closedir(stream) }
    var names: [DirectoryName] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw .system(errno, "a listing") }
        return names
      }
      withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) { name in
          let isReadable = String(validatingCString: name) != nil
          let text = String(cString: name)
          if text != ".", text != ".." { names.append(DirectoryName(text: text, isReadable: isReadable)) }
        }
      }
    }
  }
}
