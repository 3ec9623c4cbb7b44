# Installing, and what is published: the wheel, Debian packages, a tarball, and the site of the documentation.

##@ Install

install: tool ## Install under PREFIX (/usr/local), or below DESTDIR for packagers
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/Satchel
	install -m 644 Include/satchel.h $(DESTDIR)$(PREFIX)/include/
	install -m 755 $(STAGED) $(DESTDIR)$(LIBDIR)/
	ln -sf libsatchel.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libsatchel.so
	@for file in $(TEMPLATES); do $(call fill,$$file); done
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 Documentation/satchel.1
	install -D -s -m 755 $(BUILD)/release/satchel-cli $(DESTDIR)$(PREFIX)/bin/satchel
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

uninstall: ## Remove what `make install` put there; takes the same PREFIX and DESTDIR
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,libsatchel.so $(SONAME) libsatchel.so.$(VERSION) pkgconfig/satchel.pc)
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,include/satchel.h share/man/man1/satchel.1 bin/satchel)
	rm -rf $(DESTDIR)$(LIBDIR)/cmake/Satchel

clean: ## Remove everything built, and the virtual environments
	rm -rf .build .build-* $(VENV) $(SERVERS) .venv-wheel .venv-site Bindings/Python/dist

# template:place below LIBDIR
TEMPLATES := satchel.pc.in:pkgconfig/satchel.pc \
  SatchelConfig.cmake.in:cmake/Satchel/SatchelConfig.cmake \
  SatchelConfigVersion.cmake.in:cmake/Satchel/SatchelConfigVersion.cmake
TO_INCLUDE = $$(realpath -m --relative-to=$(LIBDIR)/cmake/Satchel $(PREFIX)/include)
# The prefix in satchel.pc: that of the tarball is relative to the file.
PC_PREFIX ?= $(PREFIX)
fill = sed -e 's|@PREFIX@|$(PC_PREFIX)|g' -e 's|@LIBDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|g' \
  -e 's|@VERSION@|$(VERSION)|g' -e 's|@MAJOR@|$(MAJOR)|g' -e 's|@SONAME@|$(SONAME)|g' \
  -e "s|@TO_INCLUDE@|$(TO_INCLUDE)|g" "Include/$${file%%:*}" > "$(DESTDIR)$(LIBDIR)/$${file\#\#*:}"

##@ Publish

wheel: lib setup-tests ## The self-contained Python wheel, and the sdist: Bindings/Python/dist
	@Scripts/setup.sh wheel
	@Bindings/Packaging/sqlite.sh $(CURDIR)/.build-sqlite || true
	$(PYTHON) Bindings/Python/build_wheel.py --sqlite $(CURDIR)/.build-sqlite

test-wheel: wheel ## The wheel in a fresh environment and in a root without its libraries, and the sdist
	Tests/packages/wheel.sh

deb: tool setup-tests ## Debian packages libsatchel0, libsatchel-dev, satchel, python3-satchel: .build-deb
	@Scripts/setup.sh deb
	Bindings/Packaging/deb.sh .build-deb

test-deb: deb ## The Debian packages: unpacked, or as root with INSTALL=1 installed and removed
	INSTALL=$(INSTALL) Tests/packages/deb.sh .build-deb

tarball: tool ## The library, its header and the tool in one archive that can be unpacked anywhere: .build-tarball
	Bindings/Packaging/tarball.sh .build-tarball

test-tarball: tarball ## The archive, unpacked and moved
	Tests/packages/tarball.sh .build-tarball

docs: lib setup-tests ## The documentation as one site that opens from disk: .build-docs/site/index.html
	@Scripts/setup.sh docs
	Documentation/site/build.sh .build-docs

test-site: docs ## The site's links, its search, and that it needs nothing from elsewhere
	@Scripts/setup.sh node
	python3 Tests/documentation/site.py .build-docs/site

release-check: ## Versions agree, and what is published can be installed and used; REHEARSE=1 before the changelog has its entry
	@python3 Bindings/Packaging/release_check.py $(if $(REHEARSE),--rehearse)
	@$(MAKE) --no-print-directory test-wheel test-deb test-tarball
